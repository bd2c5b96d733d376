"""Asks for consolidation by hand: of a whole bank or of some scopes, whether or not it runs by itself.

Called by the API; writes an operation that ends when the work it covers has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import CONSOLIDATION, NewOperation
from hindsight_aws.model.principal import Permission, Principal


@dataclass(frozen=True, slots=True)
class Submitted:
    """The operation that covers the request; `deduplicated` when one that was open already does."""

    operation_id: OperationId
    deduplicated: bool


def submit(
    ports: ConsolidationPorts, principal: Principal, external_id: str, scopes: Sequence[Sequence[str]] | None
) -> Submitted:
    """Makes the bank's pending work due now and wakes its scopes.

    `scopes` None, and a list that is empty or holds the empty scope's every-matching filter, ask for the whole bank.
    Work is covered when its scope, or its fact's own tags, hold all tags of one entry.

    Guarantees: one open operation for a whole bank, which ends when all that was pending at the last request has ended;
    an operation over nothing ends at once.
    Raises: NotFound, AccessDenied.
    """
    require_bank(principal, external_id)
    require(principal, Permission.WRITE)
    require_whole_bank(principal)
    filters = _filters(scopes)
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        woken = tx.consolidation.request(bank.bank_id, filters)
        # The lock makes one operation of requests that come at once; work is locked first, as by all who write.
        if tx.banks.lock(external_id) is None:
            raise bank_not_found(external_id)
        open_already = tx.consolidation.open_bank_wide(bank.bank_id) if filters is None else None
        operation_id = open_already or OperationId(uuid4())
        if open_already is None:
            payload = {} if filters is None else {"scope_ids": [str(scope_id) for scope_id in woken]}
            operation = NewOperation(operation_id, CONSOLIDATION, principal.subject, payload)
            tx.operations.add(bank.bank_id, [operation])
    # Operations are locked before work: whoever cancels one holds it when it comes to the work.
    with ports.store.transaction(principal.tenant_id) as tx:
        is_heard = tx.consolidation.finish_operations(bank.bank_id)
    if is_heard:
        ports.wakeups.wake_webhooks(principal.tenant_id, bank.bank_id)
    ports.wakeups.wake_scopes(principal.tenant_id, bank.bank_id, woken)
    return Submitted(operation_id, open_already is not None)


def recover(
    ports: ConsolidationPorts,
    principal: Principal,
    external_id: str,
    scopes: Sequence[Sequence[str]] | None = None,
) -> int:
    """Makes the bank's failed facts pending again, starting nothing; returns how many there were.

    `scopes` as of `submit`.  What was counted on them, attempts and later tries by the sweep, begins anew.  They are as
    new facts are: where nothing runs by itself they wait until somebody asks for consolidation.
    Raises: NotFound, AccessDenied.
    """
    require_bank(principal, external_id)
    require(principal, Permission.WRITE)
    require_whole_bank(principal)
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        return 0 if bank is None else tx.consolidation.recover(bank.bank_id, _filters(scopes))


def _filters(scopes: Sequence[Sequence[str]] | None) -> Sequence[Sequence[str]] | None:
    """What narrows the work down: a list that is empty, or holds the empty set that all others hold, does not."""
    return scopes if scopes and all(scopes) else None
