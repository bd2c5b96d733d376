"""Finds stranded work and wakes it again: what a lost message, a killed worker or a refused send left lying.

Called by functions/sweep on a schedule, through jobs/rest; calls the store, the wake-ups, and whoever tends to a kind.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from hindsight_aws.consolidate.policy import server_policy
from hindsight_aws.consolidate.rebuild import tend_policy
from hindsight_aws.erasure import ErasurePorts
from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.backlog import measure_backlog
from hindsight_aws.jobs.erasures import tend_erasures
from hindsight_aws.jobs.kept_files import tend_kept_files
from hindsight_aws.jobs.limits import tend_limits
from hindsight_aws.jobs.refreshes import tend_pages
from hindsight_aws.jobs.tending import is_tended
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.store import DueBy, DueKind, DueWork, Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings, WrongSetting

_log = logging.getLogger(__name__)

MOST_PER_SWEEP: Final = 500


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How many pieces of work of each kind were found due: taken care of, or of a kind that is `unknown` here."""

    woken: dict[str, int]
    unknown: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Tick:
    """What one tick works with; `now` is its moment."""

    store: Store
    wakeups: Wakeups
    settings: Settings
    now: datetime
    pages: PagesDoor
    erasures: ErasurePorts


def sweep(
    store: Store,
    wakeups: Wakeups,
    settings: Settings,
    clock: Clock,
    pages: PagesDoor,
    erasures: ErasurePorts,
) -> SweepReport:
    """Takes care of all due work that nobody holds, at most MOST_PER_SWEEP of a kind; the rest comes next time.

    Failed facts whose next try is due are made pending again before their scope is woken.

    Guarantees: may run twice at once; a row that cannot be tended to is logged and costs no other its wake-up, and so
    is work of a kind that nobody takes care of.
    Raises: DatabaseUnavailable when the due work cannot be read.
    """
    tick = _Tick(store, wakeups, settings, clock.now(), pages, erasures)
    asked = replace(due_by(settings), moment=tick.now)
    due = store.due_work(MOST_PER_SWEEP, asked)
    for kinds, take_care in CARE:
        take_care(tick, [work for work in due if work.kind in kinds])
    measure_backlog(store, asked)
    found = Counter(work.kind for work in due)
    known = {kind for kinds, _ in CARE for kind in kinds}
    unknown = {kind: number for kind, number in found.items() if kind not in known}
    for kind, number in unknown.items():
        _log.error("%d pieces of work are of a kind that nobody takes care of: %s", number, kind)
    return SweepReport({kind: number for kind, number in found.items() if kind in known}, unknown)


def _look_at_limits(tick: _Tick, due: Sequence[DueWork]) -> None:
    tend_limits(tick.store, due, tick.now)


def _wake_operations(tick: _Tick, due: Sequence[DueWork]) -> None:
    for tenant_id, operation_ids in _by_tenant(due).items():
        tick.wakeups.wake_operations(tenant_id, operation_ids)


def _wake_conversions(tick: _Tick, due: Sequence[DueWork]) -> None:
    for tenant_id, operation_ids in _by_tenant(due).items():
        tick.wakeups.wake_conversions(tenant_id, operation_ids)


def _wake_transfers(tick: _Tick, due: Sequence[DueWork]) -> None:
    for tenant_id, operation_ids in _by_tenant(due).items():
        tick.wakeups.wake_transfers(tenant_id, operation_ids)


def _wake_scopes(tick: _Tick, due: Sequence[DueWork]) -> None:
    for (tenant_id, bank_id), scope_ids in _by_bank(due).items():
        tick.wakeups.wake_scopes(tenant_id, bank_id, [ScopeId(scope_id) for scope_id in scope_ids])


def _wake_links(tick: _Tick, due: Sequence[DueWork]) -> None:
    for work in due:
        tick.wakeups.wake_links(work.tenant_id, BankId(work.bank_id))


def _tend(tick: _Tick, due: Sequence[DueWork]) -> None:
    for work in due:
        is_tended(tick.store, work, tick.settings)


def _wake_webhooks(tick: _Tick, due: Sequence[DueWork]) -> None:
    """Wakes deliveries that are due, and banks with events: those left lying, and those that come to be here."""
    ended = [work for work in due if work.kind == DueKind.ASKED_CONSOLIDATION]
    ended = [work for work in ended if is_tended(tick.store, work, tick.settings)]
    deliveries = _by_bank(work for work in due if work.kind == DueKind.WEBHOOK)
    for (tenant_id, bank_id), delivery_ids in deliveries.items():
        tick.wakeups.wake_deliveries(tenant_id, bank_id, delivery_ids)
    for tenant_id, bank_id in _by_bank([*(work for work in due if work.kind == DueKind.WEBHOOK_EVENTS), *ended]):
        tick.wakeups.wake_webhooks(tenant_id, bank_id)


def _tend_and_wake_scopes(tick: _Tick, due: Sequence[DueWork]) -> None:
    _wake_scopes(tick, [work for work in due if is_tended(tick.store, work, tick.settings)])


def _tend_policies(tick: _Tick, due: Sequence[DueWork]) -> None:
    """Begins the rebuilds of banks whose settings changed, and wakes their shadows."""
    for work in due:
        bank_id = BankId(work.bank_id)
        try:
            shadows = tend_policy(tick.store, tick.settings, work.tenant_id, bank_id)
        except HindsightError as error:
            _log.warning("policy of bank %s was not tended to: %s: %s", bank_id, type(error).__name__, error)
        else:
            tick.wakeups.wake_scopes(work.tenant_id, bank_id, shadows)


def _tend_pages(tick: _Tick, due: Sequence[DueWork]) -> None:
    tend_pages(tick.pages, due)


def _tend_erasures(tick: _Tick, due: Sequence[DueWork]) -> None:
    tend_erasures(tick.erasures, due)


def _tend_kept_files(tick: _Tick, due: Sequence[DueWork]) -> None:
    tend_kept_files(tick.erasures.store, tick.erasures.files, due)


CARE: Final[Sequence[tuple[tuple[DueKind, ...], Callable[[_Tick, Sequence[DueWork]], None]]]] = (
    ((DueKind.LIMITS,), _look_at_limits),
    ((DueKind.RETAIN,), _wake_operations),
    ((DueKind.FILE_CONVERT_RETAIN,), _wake_conversions),
    (
        (
            DueKind.EXPORT_BANK,
            DueKind.EXPORT_DOCUMENTS,
            DueKind.IMPORT_BANK,
            DueKind.IMPORT_DOCUMENTS,
            DueKind.CLONE_BANK,
            DueKind.REEMBED,
            DueKind.LEFT_VECTORS,
        ),
        _wake_transfers,
    ),
    ((DueKind.CONSOLIDATION,), _wake_scopes),
    ((DueKind.LINKS,), _wake_links),
    (
        (
            DueKind.AUDIT,
            DueKind.ENDED_RUNS,
            DueKind.EXPIRED,
            DueKind.POLICY_REBUILD,
            DueKind.REFLECT,
            DueKind.SEAL,
        ),
        _tend,
    ),
    ((DueKind.ASKED_CONSOLIDATION, DueKind.WEBHOOK, DueKind.WEBHOOK_EVENTS), _wake_webhooks),
    ((DueKind.REVIVAL, DueKind.COMPACTION), _tend_and_wake_scopes),
    ((DueKind.POLICY,), _tend_policies),
    ((DueKind.PAGE_SCHEDULE, DueKind.PAGE_DELETION, DueKind.PAGES, DueKind.REFRESH_MENTAL_MODEL), _tend_pages),
    ((DueKind.ERASURE,), _tend_erasures),
    ((DueKind.KEPT_FILES,), _tend_kept_files),
)
"""Who takes care of which kinds, in this order: a tenant is parked before its workers wake, what takes long is last."""


def _by_tenant(due: Iterable[DueWork]) -> Mapping[TenantId, list[OperationId]]:
    operations: dict[TenantId, list[OperationId]] = defaultdict(list)
    for work in due:
        operations[work.tenant_id].append(OperationId(work.id))
    return operations


def _by_bank(due: Iterable[DueWork]) -> Mapping[tuple[TenantId, BankId], list[UUID]]:
    rows: dict[tuple[TenantId, BankId], list[UUID]] = defaultdict(list)
    for work in due:
        rows[work.tenant_id, BankId(work.bank_id)].append(work.id)
    return rows


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
