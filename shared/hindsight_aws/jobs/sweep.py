"""Finds stranded work and wakes it again: what a lost message, a killed worker or a refused send left lying.

Called by functions/sweep on a schedule; calls the store and the wake-ups.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from hindsight_aws.consolidate.policy import server_policy
from hindsight_aws.consolidate.rebuild import tend_policy
from hindsight_aws.erasure import ErasurePorts
from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.backlog import measure_backlog
from hindsight_aws.jobs.erasures import tend_erasures
from hindsight_aws.jobs.limits import tend_limits
from hindsight_aws.jobs.models import tend_models
from hindsight_aws.mental_models.ports import ModelsDoor
from hindsight_aws.model.ids import BankId, OperationId, RunId, ScopeId, TenantId
from hindsight_aws.model.operation import CONSOLIDATION, FILE_CONVERT_RETAIN, POLICY_REBUILD, REEMBED, RETAIN, TRANSFERS
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.store import DueBy, DueWork, Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.reflect.runs import end_if_dead
from hindsight_aws.settings import Settings, WrongSetting

_log = logging.getLogger(__name__)

MOST_PER_SWEEP: Final = 500
MOST_EXPIRED: Final = 1_000
"""Records of ended operations that one sweep removes from one bank."""
_OPERATION: Final = "operation:"
_TENDED: Final = frozenset(
    {
        _OPERATION + CONSOLIDATION,
        _OPERATION + POLICY_REBUILD,
        "audit",
        "compaction",
        "ended_runs",
        "expired",
        "reflect",
        "revival",
        "seal",
    }
)
"""Kinds of which the row itself has to be changed."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How many pieces of work of each kind were found due, and woken where a worker for the kind is there."""

    woken: dict[str, int]


def sweep(
    store: Store,
    wakeups: Wakeups,
    settings: Settings,
    models: ModelsDoor | None = None,
    clock: Clock | None = None,
    erasures: ErasurePorts | None = None,
) -> SweepReport:
    """Wakes all due work that nobody holds, at most MOST_PER_SWEEP of a kind; what is left over comes next time.

    Failed facts whose next try is due are made pending again first.

    Guarantees: may run twice at once; a row that cannot be tended to is logged and costs no other its wake-up.
    Raises: DatabaseUnavailable when the due work cannot be read.
    """
    now = (clock or SystemClock()).now()
    asked = replace(due_by(settings), moment=now)
    due = store.due_work(MOST_PER_SWEEP, asked)
    tend_limits(store, due, now)
    _wake_operations(wakeups, [work for work in due if work.kind == _OPERATION + RETAIN])
    conversions = [work for work in due if work.kind == _OPERATION + FILE_CONVERT_RETAIN]
    for tenant_id, operation_ids in _by_tenant(conversions).items():
        wakeups.wake_conversions(tenant_id, operation_ids)
    transfers = [work for work in due if work.kind.removeprefix(_OPERATION) in {*TRANSFERS, REEMBED}]
    for tenant_id, operation_ids in _by_tenant(transfers).items():
        wakeups.wake_transfers(tenant_id, operation_ids)
    _wake_scopes(wakeups, [work for work in due if work.kind == "consolidation"])
    for work in due:
        if work.kind == "links":
            wakeups.wake_links(work.tenant_id, BankId(work.bank_id))
    tended = [work for work in due if work.kind in _TENDED and _is_tended(store, work, settings)]
    _wake_webhooks(wakeups, due, [work for work in tended if work.kind == _OPERATION + CONSOLIDATION])
    _wake_scopes(wakeups, [work for work in tended if work.kind in {"revival", "compaction"}])
    for work in due:
        if work.kind == "policy":
            wakeups.wake_scopes(work.tenant_id, BankId(work.bank_id), _rebuilt(store, work, settings))
    if models is not None:
        tend_models(models, due)
    if erasures is not None:
        tend_erasures(erasures, due)
    measure_backlog(store, asked)
    return SweepReport(dict(Counter(work.kind for work in due)))


def _wake_webhooks(wakeups: Wakeups, due: Iterable[DueWork], ended: Iterable[DueWork]) -> None:
    """Wakes deliveries that are due, and banks with events: those left lying, and those that have just come to be."""
    banks: dict[tuple[TenantId, BankId], list[UUID]] = defaultdict(list)
    for work in due:
        if work.kind == "webhook":
            banks[work.tenant_id, BankId(work.bank_id)].append(work.id)
    for (tenant_id, bank_id), delivery_ids in banks.items():
        wakeups.wake_deliveries(tenant_id, bank_id, delivery_ids)
    for tenant_id, bank_id in dict.fromkeys(
        (work.tenant_id, BankId(work.bank_id))
        for work in [*(each for each in due if each.kind == "webhook_events"), *ended]
    ):
        wakeups.wake_webhooks(tenant_id, bank_id)


def _wake_operations(wakeups: Wakeups, due: Iterable[DueWork]) -> None:
    for tenant_id, operation_ids in _by_tenant(due).items():
        wakeups.wake_operations(tenant_id, operation_ids)


def _by_tenant(due: Iterable[DueWork]) -> dict[TenantId, list[OperationId]]:
    operations: dict[TenantId, list[OperationId]] = defaultdict(list)
    for work in due:
        operations[work.tenant_id].append(OperationId(work.id))
    return operations


def _wake_scopes(wakeups: Wakeups, due: Iterable[DueWork]) -> None:
    scopes: dict[tuple[TenantId, BankId], list[ScopeId]] = defaultdict(list)
    for work in due:
        scopes[work.tenant_id, BankId(work.bank_id)].append(ScopeId(work.id))
    for (tenant_id, bank_id), scope_ids in scopes.items():
        wakeups.wake_scopes(tenant_id, bank_id, scope_ids)


def _is_tended(store: Store, work: DueWork, settings: Settings) -> bool:
    """Does to the row itself what its kind asks for; whether something changed that somebody can be woken for."""
    bank_id = BankId(work.bank_id)
    try:
        with store.transaction(work.tenant_id) as tx:
            if work.kind == "revival":
                return tx.consolidation.revive(bank_id, work.id) > 0
            if work.kind == "compaction":
                return tx.compactions.open(bank_id, work.id)
            if work.kind == "reflect":
                end_if_dead(tx, bank_id, RunId(work.id))
            elif work.kind == "ended_runs":
                tx.reflect.purge(bank_id, settings.hindsight_reflect_keep_days * 86_400)
            elif work.kind == "seal":
                tx.rebuilds.delete_seals(bank_id)
            elif work.kind == _OPERATION + POLICY_REBUILD:
                tx.rebuilds.finish(bank_id)
            elif work.kind == "audit":
                tx.audit.expire(bank_id, settings.hindsight_api_audit_log_retention_days, MOST_EXPIRED)
            elif work.kind == "expired":
                tx.operations.expire(bank_id, settings.hindsight_api_operation_retention_days, MOST_EXPIRED)
            else:
                return tx.consolidation.finish_operations(bank_id)
            return True
    except HindsightError as error:
        _log.warning("%s %s was not tended to: %s: %s", work.kind, work.id, type(error).__name__, error)
        return False


def due_by(settings: Settings) -> DueBy:
    """What the server's settings say of when work is due."""
    return DueBy(
        observations=settings.hindsight_api_enable_observations,
        auto_consolidation=settings.hindsight_api_enable_auto_consolidation,
        server_policy=_server_policy(settings),
        retention_days=settings.hindsight_api_operation_retention_days,
        compaction_seconds=settings.hindsight_compaction_hours * 3_600,
        run_seconds=settings.hindsight_reflect_keep_days * 86_400,
        everywhere=settings.hindsight_api_webhook_url is not None,
        audit_days=settings.hindsight_api_audit_log_retention_days,
        signs=bool(settings.hindsight_receipt_key),
    )


def _server_policy(settings: Settings) -> str | None:
    """The digest of the server's missions; None, and no bank is looked through, while they are set wrongly."""
    try:
        return server_policy(settings)
    except WrongSetting:
        _log.exception("no scope is looked through for a changed mission: the server's settings are wrong")
        return None


def _rebuilt(store: Store, work: DueWork, settings: Settings) -> Sequence[ScopeId]:
    """The shadows to wake of a bank whose settings changed."""
    try:
        return tend_policy(store, settings, work.tenant_id, BankId(work.bank_id))
    except HindsightError as error:
        _log.warning("policy of bank %s was not tended to: %s: %s", work.bank_id, type(error).__name__, error)
        return ()
