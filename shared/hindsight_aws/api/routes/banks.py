"""Banks: list, make, change, describe, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.access import bank_patterns, is_limited, reads
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.schemas.banks import AddBackgroundRequest, CreateBankRequest, UpdateDispositionRequest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import manage
from hindsight_aws.banks.manage import BankChange
from hindsight_aws.configuration.config import resolve
from hindsight_aws.configuration.profile import BankProfile, profile
from hindsight_aws.erasure import erase_bank
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.banks import BankSummary
from hindsight_aws.settings import Settings

router = APIRouter(prefix="/v1/default/banks", route_class=ReportingRoute)
RECEIPT_HEADER = "x-hindsight-erasure"
Paging = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.get("")
async def list_banks(call: CallDep, q: str | None = None, limit: Paging = 100, offset: Paging = 0) -> Response:
    """The banks the key covers, most recently written first."""
    principal = call.principal(Permission.READ)
    with call.services.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.page(q or None, bank_patterns(principal), limit, offset)
    items = [_item(summary, principal, call.services.settings) for summary in found.items]
    return json_answer({"banks": items, "total": found.total, "limit": limit, "offset": offset})


@router.put("/{bank_id}")
async def create_or_update_bank(call: CallDep, bank_id: str, body: CreateBankRequest) -> Response:
    """Makes the bank if there is none, and applies what was given."""
    principal = call.principal(Permission.WRITE)
    change = BankChange(body.name, body.updates())
    furnish(call, principal, bank_id, Permission.ADMIN if change.updates else Permission.WRITE)
    made = manage.create_or_update(call.services.store, call.services.settings, principal, bank_id, change)
    return json_answer(_profile(made, principal))


@router.patch("/{bank_id}")
async def update_bank(call: CallDep, bank_id: str, body: CreateBankRequest) -> Response:
    """Applies what was given to a bank that exists."""
    principal = call.principal(Permission.WRITE)
    change = BankChange(body.name, body.updates())
    made = manage.update(call.services.store, call.services.settings, principal, bank_id, change)
    return json_answer(_profile(made, principal))


@router.get("/{bank_id}/profile")
async def get_bank_profile(call: CallDep, bank_id: str) -> Response:
    """The bank's profile: retired upstream, still asked for by older clients."""
    with call.bank(bank_id, Permission.READ) as seen:
        described = profile(seen.bank, resolve(call.services.settings, seen.bank.overrides))
    return json_answer(_profile(described, seen.principal))


@router.put("/{bank_id}/profile")
async def update_bank_disposition(call: CallDep, bank_id: str, body: UpdateDispositionRequest) -> Response:
    """Sets the traits of a bank that exists: retired upstream, still asked for by older clients."""
    principal = call.principal(Permission.WRITE)
    traits = {f"disposition_{trait}": value for trait, value in body.disposition.model_dump().items()}
    made = manage.update(call.services.store, call.services.settings, principal, bank_id, BankChange(updates=traits))
    return json_answer(_profile(made, principal))


@router.post("/{bank_id}/background")
async def add_bank_background(call: CallDep, bank_id: str, body: AddBackgroundRequest) -> Response:
    """Adds a text to the mission of a bank that exists: retired upstream, still asked for by older clients."""
    principal = call.principal(Permission.WRITE)
    made = manage.add_background(call.services.store, call.services.settings, principal, bank_id, body.content)
    return json_answer({"mission": made.mission, "background": made.mission, "disposition": _disposition(made)})


@router.delete("/{bank_id}")
async def delete_bank(call: CallDep, bank_id: str) -> Response:
    """Removes the bank and all it holds; absent already is fine.  A header names the receipt of what went."""
    principal = call.principal(Permission.ADMIN)
    gone = erase_bank(call.services.erasure_ports, principal, bank_id)
    call.forget_names()
    message = f"Bank '{bank_id}' and all associated data deleted successfully"
    answer = json_answer({"success": True, "message": message, "deleted_count": gone.contents})
    if gone.erasure_id is not None:
        answer.headers[RECEIPT_HEADER] = str(gone.erasure_id)
    return answer


def _profile(described: BankProfile, principal: Principal) -> dict[str, object]:
    """The bank as it is shown; who may not read is told its mission as little as its other settings."""
    mission = described.mission if reads(principal) else ""
    return {
        "bank_id": described.external_id,
        "name": described.name,
        "disposition": _disposition(described),
        "mission": mission,
        "background": mission,
    }


def _disposition(described: BankProfile) -> dict[str, object]:
    return {
        "skepticism": described.skepticism,
        "literalism": described.literalism,
        "empathy": described.empathy,
    }


def _item(summary: BankSummary, principal: Principal, settings: Settings) -> dict[str, object]:
    bank: Bank = summary.bank
    described = profile(bank, resolve(settings, bank.overrides))
    return {
        "bank_id": bank.external_id,
        "name": bank.label,
        "disposition": _disposition(described),
        "mission": described.mission,
        "created_at": summary.created_at,
        "updated_at": summary.updated_at,
        "fact_count": 0 if is_limited(principal) else summary.facts,
        "last_document_at": None if is_limited(principal) else summary.last_document_at,
        "last_write_at": None if is_limited(principal) else summary.last_write_at,
        "display_alias": summary.primary_alias,
        "matched_aliases": list(summary.matched_aliases),
    }
