"""Changes rows of due work for which no worker is to be woken, or not before the row itself is changed.

Called by the sweep; calls the store and reflect.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.store import DueKind, DueWork, Store, Transaction
from hindsight_aws.reflect.runs import end_if_dead
from hindsight_aws.settings import Settings

_log = logging.getLogger(__name__)

MOST_EXPIRED: Final = 1_000
"""Records of ended operations that one sweep removes from one bank."""


def is_tended(store: Store, work: DueWork, settings: Settings) -> bool:
    """Does to the row what its kind, one of TENDED, asks for; whether somebody may have work by that.

    Guarantees: a row that fails is logged.
    """
    try:
        with store.transaction(work.tenant_id) as tx:
            return TENDED[work.kind](tx, work, settings)
    except HindsightError as error:
        _log.warning("%s %s was not tended to: %s: %s", work.kind, work.id, type(error).__name__, error)
        return False


def _revive(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    return tx.consolidation.revive(BankId(work.bank_id), work.id) > 0


def _open_compaction(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    return tx.compactions.open(BankId(work.bank_id), work.id)


def _finish_operations(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    return tx.consolidation.finish_operations(BankId(work.bank_id))


def _finish_rebuilds(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    tx.rebuilds.finish(BankId(work.bank_id))
    return False


def _end_run(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    end_if_dead(tx, BankId(work.bank_id), RunId(work.id))
    return False


def _purge_runs(tx: Transaction, work: DueWork, settings: Settings) -> bool:
    tx.reflect.purge(BankId(work.bank_id), settings.hindsight_reflect_keep_days * 86_400)
    return False


def _delete_seals(tx: Transaction, work: DueWork, _settings: Settings) -> bool:
    tx.rebuilds.delete_seals(BankId(work.bank_id))
    return False


def _expire_audit(tx: Transaction, work: DueWork, settings: Settings) -> bool:
    tx.audit.expire(BankId(work.bank_id), settings.hindsight_api_audit_log_retention_days, MOST_EXPIRED)
    return False


def _expire_operations(tx: Transaction, work: DueWork, settings: Settings) -> bool:
    tx.operations.expire(BankId(work.bank_id), settings.hindsight_api_operation_retention_days, MOST_EXPIRED)
    return False


TENDED: Final[Mapping[str, Callable[[Transaction, DueWork, Settings], bool]]] = {
    DueKind.ASKED_CONSOLIDATION: _finish_operations,
    DueKind.AUDIT: _expire_audit,
    DueKind.COMPACTION: _open_compaction,
    DueKind.ENDED_RUNS: _purge_runs,
    DueKind.EXPIRED: _expire_operations,
    DueKind.POLICY_REBUILD: _finish_rebuilds,
    DueKind.REFLECT: _end_run,
    DueKind.REVIVAL: _revive,
    DueKind.SEAL: _delete_seals,
}
"""What each kind's row asks for, and whether somebody may have work by that."""
