"""Asks for consolidation by hand: of a whole bank or of some scopes, whether or not it runs by itself.

Called by the API; writes an operation that ends when the work it covers has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import WorkRaced
from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.model.operation import CONSOLIDATION, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.operations.again import again
from hindsight_aws.usage.allowance import parked

Filters = Sequence[Sequence[str]] | None


@dataclass(frozen=True, slots=True)
class Submitted:
    """The operation that covers the request; `deduplicated` when one that was open already does."""

    operation_id: OperationId
    deduplicated: bool


def submit(ports: ConsolidationPorts, principal: Principal, external_id: str, scopes: Filters) -> Submitted:
    """Makes the bank's pending work due now and wakes its scopes.

    `scopes` None, and a list that is empty or holds the empty scope's every-matching filter, ask for the whole bank.
    Work is covered when its scope, or its fact's own tags, hold all tags of one entry.

    Guarantees: one open operation for a whole bank, and one for the same scopes while the tenant is parked, which ends
    when all that was pending at the last request has ended; an operation over nothing ends at once.
    Raises: NotFound, AccessDenied; WorkRaced when others came in between each time.
    """
    require_bank(principal, external_id)
    require(principal, Permission.WRITE)
    require_whole_bank(principal)
    filters = _filters(scopes)
    bank_id, woken, made = again(lambda: _request(ports, principal, external_id, filters))
    _finish(ports, principal, bank_id)
    ports.wakeups.wake_scopes(principal.tenant_id, bank_id, woken)
    return made


def _request(
    ports: ConsolidationPorts, principal: Principal, external_id: str, filters: Filters
) -> tuple[BankId, Sequence[ScopeId], Submitted]:
    """The bank, the scopes to wake, and the operation that covers them: what is written down in one transaction."""
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        woken = sorted(tx.consolidation.request(bank.bank_id, filters))
        # The lock makes one operation of requests that come at once; work is locked first, as by all who write.
        if tx.banks.lock(external_id) is None:
            raise bank_not_found(external_id)
        # Requests for scopes are operations of their own, but not where they would wait, and pile up, for a day.
        joins = filters is None or parked(tx, ports.clock.now()) is not None
        over = None if filters is None else woken
        open_already = tx.consolidation.open_over(bank.bank_id, over) if joins else None
        operation_id = open_already or OperationId(uuid4())
        if open_already is None:
            payload = {} if filters is None else {"scope_ids": [str(scope_id) for scope_id in woken]}
            operation = NewOperation(operation_id, CONSOLIDATION, principal.subject, payload)
            tx.operations.add(bank.bank_id, [operation])
    return bank.bank_id, woken, Submitted(operation_id, open_already is not None)


def _finish(ports: ConsolidationPorts, principal: Principal, bank_id: BankId) -> None:
    """Ends operations over nothing; one that cannot be ended now is ended by the sweep, for the request stands."""
    is_heard = False
    # Operations are locked before work: whoever cancels one has it locked when it comes to the work.
    with suppress(WorkRaced), ports.store.transaction(principal.tenant_id) as tx:
        is_heard = tx.consolidation.finish_operations(bank_id)
    if is_heard:
        ports.wakeups.wake_webhooks(principal.tenant_id, bank_id)


def recover(
    ports: ConsolidationPorts,
    principal: Principal,
    external_id: str,
    scopes: Filters = None,
) -> int:
    """Makes the bank's failed facts pending again, starting nothing; returns how many there were.

    `scopes` as of `submit`.  What was counted on them, attempts and later tries by the sweep, begins anew.  They are as
    new facts are: where nothing runs by itself they wait until somebody asks for consolidation.
    Raises: NotFound, AccessDenied; WorkRaced when others came in between each time.
    """
    require_bank(principal, external_id)
    require(principal, Permission.WRITE)
    require_whole_bank(principal)

    def attempt() -> int:
        with ports.store.transaction(principal.tenant_id) as tx:
            bank = tx.banks.find(external_id)
            return 0 if bank is None else tx.consolidation.recover(bank.bank_id, _filters(scopes))

    return again(attempt)


def _filters(scopes: Filters) -> Filters:
    """What narrows the work down: a list that is empty, or holds the empty set that all others hold, does not."""
    return scopes if scopes and all(scopes) else None
