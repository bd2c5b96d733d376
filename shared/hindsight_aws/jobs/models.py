"""Tends to mental models: what consolidation, time and deletions mean for them, and the refreshes that are due.

Called by the sweep, after each drain and after each refresh that others wait behind; calls mental_models.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.mental_models import triggers
from hindsight_aws.mental_models.ports import ModelsDoor
from hindsight_aws.mental_models.start import start, start_due
from hindsight_aws.model.ids import BankId, OperationId, TenantId
from hindsight_aws.model.operation import REFRESH_MENTAL_MODEL
from hindsight_aws.ports.store import DueWork

_log = logging.getLogger(__name__)

_DUE: Final = f"operation:{REFRESH_MENTAL_MODEL}"


def after_drain(models: ModelsDoor, tenant_id: TenantId, bank_id: BankId) -> None:
    """Has models refreshed that the drain concerns; what fails is left for the sweep."""
    try:
        if triggers.after_consolidation(models, tenant_id, bank_id):
            start_due(models, tenant_id, bank_id)
    except HindsightError as error:
        _log.warning("mental models of bank %s were not looked at: %s: %s", bank_id, type(error).__name__, error)


def start_waiting(models: ModelsDoor, tenant_id: TenantId, bank_id: BankId) -> None:
    """Starts what is due of a bank, where a refresh that others waited behind has ended; the sweep starts the rest."""
    _guarded(models, tenant_id, bank_id)


def tend_models(models: ModelsDoor, due: Sequence[DueWork]) -> None:
    """Does what each piece of work asks for, then starts what is due of the banks concerned.

    Guarantees: one that fails costs no other.
    """
    asked: dict[tuple[TenantId, BankId], None] = {}
    for work in due:
        if work.kind in ("page_schedule", "page_deletion", "pages") and _is_asked(models, work):
            asked[work.tenant_id, BankId(work.bank_id)] = None
    for tenant_id, bank_id in asked:
        _guarded(models, tenant_id, bank_id)
    for work in due:
        if work.kind == _DUE:
            _guarded(models, work.tenant_id, BankId(work.bank_id), OperationId(work.id))


def _is_asked(models: ModelsDoor, work: DueWork) -> bool:
    """Does what the row asks for; whether it has a refresh run."""
    bank_id = BankId(work.bank_id)
    try:
        if work.kind == "pages":
            return triggers.after_consolidation(models, work.tenant_id, bank_id, even_if_busy=True) > 0
        ask = triggers.on_schedule if work.kind == "page_schedule" else triggers.after_deletion
        with models.store.transaction(work.tenant_id) as tx:
            return ask(models, tx, bank_id, work.id)
    except HindsightError as error:
        _log.warning("%s %s was not tended to: %s: %s", work.kind, work.id, type(error).__name__, error)
        return False


def _guarded(models: ModelsDoor, tenant_id: TenantId, bank_id: BankId, operation_id: OperationId | None = None) -> None:
    try:
        if operation_id is None:
            start_due(models, tenant_id, bank_id)
        else:
            start(models, tenant_id, bank_id, operation_id)
    except HindsightError as error:
        _log.warning("refreshes of bank %s were not started: %s: %s", bank_id, type(error).__name__, error)
