"""Finds stranded work and wakes it again: what a lost message, a killed worker or a refused send left lying.

Called by functions/sweep on a schedule; calls the store and the wake-ups.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import BankId, OperationId, RunId, ScopeId, TenantId
from hindsight_aws.model.operation import CONSOLIDATION, RETAIN
from hindsight_aws.ports.store import DueWork, Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.reflect.runs import end_if_dead
from hindsight_aws.settings import Settings

_log = logging.getLogger(__name__)

MOST_PER_SWEEP: Final = 500
_OPERATION: Final = "operation:"
_TENDED: Final = frozenset({_OPERATION + CONSOLIDATION, "reflect", "revival"})
"""Kinds of which the row itself has to be changed."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How many pieces of work of each kind were found due, and woken where a worker for the kind is there."""

    woken: dict[str, int]


def sweep(store: Store, wakeups: Wakeups, settings: Settings) -> SweepReport:
    """Wakes all due work that nobody holds, at most MOST_PER_SWEEP of a kind; what is left over comes next time.

    Failed facts whose next try is due are made pending again first.

    Guarantees: may run twice at once; a row that cannot be tended to is logged and costs no other its wake-up.
    Raises: DatabaseUnavailable when the due work cannot be read.
    """
    due = store.due_work(
        MOST_PER_SWEEP,
        observations=settings.hindsight_api_enable_observations,
        auto_consolidation=settings.hindsight_api_enable_auto_consolidation,
    )
    _wake_operations(wakeups, [work for work in due if work.kind == _OPERATION + RETAIN])
    _wake_scopes(wakeups, [work for work in due if work.kind == "consolidation"])
    tended = [work for work in due if work.kind in _TENDED and _is_tended(store, work)]
    _wake_scopes(wakeups, [work for work in tended if work.kind == "revival"])
    return SweepReport(dict(Counter(work.kind for work in due)))


def _wake_operations(wakeups: Wakeups, due: Iterable[DueWork]) -> None:
    operations: dict[TenantId, list[OperationId]] = defaultdict(list)
    for work in due:
        operations[work.tenant_id].append(OperationId(work.id))
    for tenant_id, operation_ids in operations.items():
        wakeups.wake_operations(tenant_id, operation_ids)


def _wake_scopes(wakeups: Wakeups, due: Iterable[DueWork]) -> None:
    scopes: dict[tuple[TenantId, BankId], list[ScopeId]] = defaultdict(list)
    for work in due:
        scopes[work.tenant_id, BankId(work.bank_id)].append(ScopeId(work.id))
    for (tenant_id, bank_id), scope_ids in scopes.items():
        wakeups.wake_scopes(tenant_id, bank_id, scope_ids)


def _is_tended(store: Store, work: DueWork) -> bool:
    """Does to the row itself what its kind asks for; whether something changed that somebody can be woken for."""
    bank_id = BankId(work.bank_id)
    try:
        with store.transaction(work.tenant_id) as tx:
            if work.kind == "revival":
                return tx.consolidation.revive(bank_id, work.id) > 0
            if work.kind == "reflect":
                end_if_dead(tx, bank_id, RunId(work.id))
            else:
                tx.consolidation.finish_operations(bank_id)
            return True
    except HindsightError as error:
        _log.warning("%s %s was not tended to: %s: %s", work.kind, work.id, type(error).__name__, error)
        return False
