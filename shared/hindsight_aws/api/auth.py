"""A call: who makes it, what it may do, and the database bound to its tenant.

Every route asks `principal` first thing.  That comes after the body's validation: a wrong body is 422 whoever sends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Final, cast

from fastapi import Depends, Request

from hindsight_aws.access import bank_not_found, require, sees_bank
from hindsight_aws.api.claims import claims_in
from hindsight_aws.api.names import Meant, forget_names, meaning
from hindsight_aws.api.services import Services
from hindsight_aws.errors import AccessDenied, NotFound, Unauthenticated
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction
from hindsight_aws.telemetry import about
from hindsight_aws.tenants.authenticate import authenticate

KNOWN_CALL: Final = "hindsight.call"
"""Under which name the scope of a request holds its call."""
COUNTED: Final = "hindsight.counted"
"""Where the scope of a request that the app makes to itself says that it is part of one that was counted."""


@dataclass(frozen=True, slots=True)
class BankInSight:
    """An open transaction on a bank that the caller's key covers."""

    tx: Transaction
    bank: Bank
    principal: Principal


@dataclass(frozen=True, slots=True)
class Call:
    """One request; `known` is its caller and `meant` the bank of its path, where they were asked for already.

    `claims` are those of a token that the gateway verified.  `is_counted`: it takes none of the tenant's requests.
    """

    services: Services
    authorization: str | None
    claims: Mapping[str, object] | None = None
    known: Principal | None = None
    meant: Meant | None = None
    is_counted: bool = False

    def caller(self) -> Principal:
        """Whoever calls, whatever their permissions.

        Raises: Unauthenticated; AccessDenied for a suspended tenant; LimitReached for one that has made as many
        requests as it may; DatabaseUnavailable.
        """
        if self.known is not None:
            return self.known
        caller = authenticate(self.services.store, self.services.settings, self.authorization, self.claims)
        about(tenant=caller.tenant_id)
        if not self.is_counted:
            self.services.requests.count(caller.tenant_id)
        return caller

    def principal(self, permission: Permission) -> Principal:
        """The caller, who has the permission.  Raises Unauthenticated, AccessDenied or DatabaseUnavailable."""
        principal = self.caller()
        require(principal, permission)
        return principal

    def forget_names(self) -> None:
        """What is kept of the names of banks is asked again: one of them was changed."""
        forget_names()

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
    is_counted = request.scope.get(COUNTED) is True
    call = Call(services, request.headers.get("authorization"), claims_in(request.scope), is_counted=is_counted)
    return _towards_bank(request, call) if "bank_id" in request.path_params else call


def _towards_bank(request: Request, call: Call) -> Call:
    """The call with its caller known, where it has one; an alias in its path has become the bank's own id.

    A route's parameters are read of the path after this.  Who has no key, or whose tenant is suspended, is told so by
    the route.
    """
    try:
        caller = call.caller()
    except (Unauthenticated, AccessDenied):
        return call
    path = request.path_params
    meant = meaning(call.services.store, caller, path["bank_id"])
    if meant is not None:
        path["bank_id"] = meant.external_id
        about(bank=meant.bank_id)
    request.scope[KNOWN_CALL] = known = replace(call, known=caller, meant=meant)
    return known


CallDep = Annotated[Call, Depends(_call)]
