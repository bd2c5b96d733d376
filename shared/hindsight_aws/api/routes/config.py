"""A bank's settings: read, change, reset."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import Call, CallDep
from hindsight_aws.api.schemas.banks import BankConfigUpdate
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import manage
from hindsight_aws.banks.config import resolve
from hindsight_aws.banks.fields import FIELDS
from hindsight_aws.banks.manage import Configured
from hindsight_aws.consolidate.review import review
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/config", route_class=ReportingRoute)


@router.get("")
async def get_bank_config(call: CallDep, bank_id: str) -> Response:
    """Every setting resolved, and the bank's own."""
    with call.bank(bank_id, Permission.READ) as seen:
        bank = seen.bank
    config = resolve(call.services.settings, bank.overrides)
    return json_answer(_shown(Configured(bank.external_id, config, bank.overrides)))


@router.patch("")
async def update_bank_config(call: CallDep, bank_id: str, body: BankConfigUpdate) -> Response:
    """Lays settings over the bank's own; `warnings` says which of them do not do what they seem to say."""
    principal = call.principal(Permission.ADMIN)
    _refuse_when_off(call)
    done = manage.configure(call.services.store, call.services.settings, principal, bank_id, body.updates)
    return json_answer(_shown(done))


@router.delete("")
async def reset_bank_config(call: CallDep, bank_id: str) -> Response:
    """Takes every setting of the bank's own away."""
    principal = call.principal(Permission.ADMIN)
    _refuse_when_off(call)
    return json_answer(_shown(manage.reset(call.services.store, call.services.settings, principal, bank_id)))


def _refuse_when_off(call: Call) -> None:
    if not call.services.settings.hindsight_api_enable_bank_config_api:
        raise NotFound("Bank config API is disabled. Set HINDSIGHT_API_ENABLE_BANK_CONFIG_API=true to enable it.")


def _shown(configured: Configured) -> dict[str, object]:
    own = {name: value for name, value in configured.overrides.items() if name in FIELDS and value is not None}
    shown = {"bank_id": configured.external_id, "config": configured.config.as_mapping(), "overrides": own}
    return shown | {"warnings": review(configured.config)}
