"""Tends to mental models: what consolidation, time and deletions mean for them, and the refreshes that are due.

Called by the sweep, after each drain and after each refresh that others wait behind; calls mental_models.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hindsight_aws.errors import HindsightError
from hindsight_aws.mental_models import triggers
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.start import start, start_due
from hindsight_aws.model.ids import BankId, OperationId, TenantId
from hindsight_aws.ports.store import DueKind, DueWork

_log = logging.getLogger(__name__)


def after_drain(pages: PagesDoor, tenant_id: TenantId, bank_id: BankId) -> None:
    """Has models refreshed that the drain concerns; what fails is left for the sweep."""
    try:
        if triggers.after_consolidation(pages, tenant_id, bank_id):
            start_due(pages, tenant_id, bank_id)
    except HindsightError as error:
        _log.warning("mental models of bank %s were not looked at: %s: %s", bank_id, type(error).__name__, error)


def start_waiting(pages: PagesDoor, tenant_id: TenantId, bank_id: BankId) -> None:
    """Starts what is due of a bank, where a refresh that others waited behind has ended; the sweep starts the rest."""
    _guarded(pages, tenant_id, bank_id)


def tend_pages(pages: PagesDoor, due: Sequence[DueWork]) -> None:
    """Does what each piece of work asks for, then starts what is due of the banks concerned.

    Guarantees: one that fails costs no other.
    """
    asked: dict[tuple[TenantId, BankId], None] = {}
    for work in due:
        if work.kind in (DueKind.PAGE_SCHEDULE, DueKind.PAGE_DELETION, DueKind.PAGES) and _is_asked(pages, work):
            asked[work.tenant_id, BankId(work.bank_id)] = None
    for tenant_id, bank_id in asked:
        _guarded(pages, tenant_id, bank_id)
    for work in due:
        if work.kind == DueKind.REFRESH_MENTAL_MODEL:
            _guarded(pages, work.tenant_id, BankId(work.bank_id), OperationId(work.id))


def _is_asked(pages: PagesDoor, work: DueWork) -> bool:
    """Does what the row asks for; whether it has a refresh run."""
    bank_id = BankId(work.bank_id)
    try:
        if work.kind == DueKind.PAGES:
            return triggers.after_consolidation(pages, work.tenant_id, bank_id, even_if_busy=True) > 0
        ask = triggers.on_schedule if work.kind == DueKind.PAGE_SCHEDULE else triggers.after_deletion
        with pages.store.transaction(work.tenant_id) as tx:
            return ask(pages, tx, bank_id, work.id)
    except HindsightError as error:
        _log.warning("%s %s was not tended to: %s: %s", work.kind, work.id, type(error).__name__, error)
        return False


def _guarded(pages: PagesDoor, tenant_id: TenantId, bank_id: BankId, operation_id: OperationId | None = None) -> None:
    try:
        if operation_id is None:
            start_due(pages, tenant_id, bank_id)
        else:
            start(pages, tenant_id, bank_id, operation_id)
    except HindsightError as error:
        _log.warning("refreshes of bank %s were not started: %s: %s", bank_id, type(error).__name__, error)
