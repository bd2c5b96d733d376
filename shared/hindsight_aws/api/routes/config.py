"""A bank's settings: read, change, reset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import Call, CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.schemas.banks import BankConfigUpdate
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import manage
from hindsight_aws.banks.manage import Configured
from hindsight_aws.configuration.config import resolve
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.consolidate.review import review
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/config", route_class=ReportingRoute)
_WRITING: Final = frozenset(
    {
        "retain_mission", "retain_custom_instructions", "retain_default_strategy", "retain_strategies", "entity_labels",
        "observations_mission", "default_observation_scopes", "consolidation_strategies", "observation_scope_limits",
    }
)  # fmt: skip
"""Settings that say how facts and observations come to be written, and of whose scopes there are."""


@router.get("")
async def get_bank_config(call: CallDep, bank_id: str) -> Response:
    """Every setting resolved, and the bank's own; what they make of facts is withheld from a key of exact scopes."""
    with call.bank(bank_id, Permission.READ) as seen:
        bank, sees_beneath = seen.bank, sight(seen.principal).sees_beneath
    config = resolve(call.services.settings, bank.overrides)
    shown = _shown(Configured(bank.external_id, config, bank.overrides))
    return json_answer(shown if sees_beneath else _without_what_writes(shown))


@router.patch("")
async def update_bank_config(call: CallDep, bank_id: str, body: BankConfigUpdate) -> Response:
    """Lays settings over the bank's own; `warnings` says which of them do not do what they seem to say."""
    principal = call.principal(Permission.ADMIN)
    _refuse_when_off(call)
    furnish(call, principal, bank_id, Permission.ADMIN)
    done = manage.configure(call.services.store, call.services.settings, principal, bank_id, body.updates)
    call.forget_names()
    return json_answer(_shown(done))


@router.delete("")
async def reset_bank_config(call: CallDep, bank_id: str) -> Response:
    """Takes every setting of the bank's own away."""
    principal = call.principal(Permission.ADMIN)
    _refuse_when_off(call)
    done = manage.reset(call.services.store, call.services.settings, principal, bank_id)
    call.forget_names()
    return json_answer(_shown(done))


def _refuse_when_off(call: Call) -> None:
    if not call.services.settings.hindsight_api_enable_bank_config_api:
        raise NotFound("Bank config API is disabled. Set HINDSIGHT_API_ENABLE_BANK_CONFIG_API=true to enable it.")


def _shown(configured: Configured) -> dict[str, object]:
    own = {name: value for name, value in configured.overrides.items() if name in FIELDS and value is not None}
    shown = {"bank_id": configured.external_id, "config": configured.config.as_mapping(), "overrides": own}
    return shown | {"warnings": review(configured.config)}


def _without_what_writes(shown: Mapping[str, object]) -> dict[str, object]:
    """The answer without the settings that `_WRITING` names; `withheld` counts those that were set."""
    config, own = cast(Mapping[str, object], shown["config"]), cast(Mapping[str, object], shown["overrides"])
    return {
        **shown,
        "config": {name: None if name in _WRITING else value for name, value in config.items()},
        "overrides": {name: value for name, value in own.items() if name not in _WRITING},
        "warnings": [],
        "withheld": sum(1 for name in _WRITING if config.get(name) is not None),
    }
