"""A call: who makes it, what it may do, and the database bound to its tenant.

Every route asks `principal` first thing.  That comes after the body's validation: a wrong body is 422 whoever sends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from hindsight_aws.access import bank_not_found, require, sees_bank
from hindsight_aws.api.services import Services
from hindsight_aws.errors import NotFound
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction
from hindsight_aws.tenants.authenticate import authenticate


@dataclass(frozen=True, slots=True)
class BankInSight:
    """An open transaction on a bank that the caller's key covers."""

    tx: Transaction
    bank: Bank
    principal: Principal


@dataclass(frozen=True, slots=True)
class Call:
    """One request, before its caller is known."""

    services: Services
    authorization: str | None

    def principal(self, permission: Permission) -> Principal:
        """The caller, who has the permission.  Raises Unauthenticated, AccessDenied or DatabaseUnavailable."""
        principal = authenticate(self.services.store, self.services.settings, self.authorization)
        require(principal, permission)
        return principal

    @contextmanager
    def bank(self, external_id: str, permission: Permission, absent: NotFound | None = None) -> Iterator[BankInSight]:
        """The bank, in a transaction that commits when the block ends; readers see one moment.

        Raises: `absent`, or else that the bank is not found, for a bank that is not there or that the key does not
        cover, alike; and what `principal` raises.
        """
        principal = self.principal(permission)
        missing = absent or bank_not_found(external_id)
        if not sees_bank(principal, external_id):
            raise missing
        store = self.services.store
        begin = store.snapshot if permission is Permission.READ else store.transaction
        with begin(principal.tenant_id) as tx:
            found = tx.banks.find(external_id)
            if found is None:
                raise missing
            yield BankInSight(tx, found, principal)


async def _call(request: Request) -> Call:
    # A coroutine, though it awaits nothing: FastAPI would run a plain function in a thread, made anew for each event.
    services = cast(Services, request.app.state.services)
    return Call(services, request.headers.get("authorization"))


CallDep = Annotated[Call, Depends(_call)]
