"""Other names under which a bank answers."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks import aliases
from hindsight_aws.banks.aliases import Named
from hindsight_aws.model.principal import Permission

router = APIRouter(prefix="/v1/default/banks/{bank_id}/aliases", route_class=ReportingRoute)


class CreateBankAliasRequest(BaseModel):
    """A name to be given, and whether lists show it."""

    alias: str
    primary: bool = False


class SetBankAliasPrimaryRequest(BaseModel):
    """Whether lists show the name."""

    primary: bool


@router.get("")
async def list_bank_aliases(call: CallDep, bank_id: str) -> Response:
    """The bank's aliases, the primary one first, then the oldest."""
    with call.bank(bank_id, Permission.READ) as seen:
        found = Named(seen.bank.external_id, seen.tx.aliases.of_bank(seen.bank.bank_id))
    return json_answer(_shown(found))


@router.post("")
async def create_bank_alias(call: CallDep, bank_id: str, body: CreateBankAliasRequest) -> Response:
    """Gives the bank another name."""
    principal = call.principal(Permission.ADMIN)
    named = aliases.add(call.services.store, principal, bank_id, body.alias, is_primary=body.primary)
    call.forget_names()
    return json_answer(_shown(named), 201)


@router.patch("/{alias}")
async def set_bank_alias_primary(call: CallDep, bank_id: str, alias: str, body: SetBankAliasPrimaryRequest) -> Response:
    """Says whether the alias is the one that lists show."""
    principal = call.principal(Permission.ADMIN)
    return json_answer(_shown(aliases.mark(call.services.store, principal, bank_id, alias, is_primary=body.primary)))


@router.delete("/{alias}")
async def delete_bank_alias(call: CallDep, bank_id: str, alias: str) -> Response:
    """Takes the alias away; the rest is answered."""
    principal = call.principal(Permission.ADMIN)
    return json_answer(_shown(aliases.remove(call.services.store, principal, bank_id, alias)))


def _shown(named: Named) -> dict[str, object]:
    return {
        "bank_id": named.external_id,
        "aliases": [{"alias": alias.name, "primary": alias.is_primary} for alias in named.aliases],
    }
