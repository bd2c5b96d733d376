"""Writes into the audit log of a bank that it was made, where it is audited.  Called by run.py; calls the store.

The call itself is in the log of the bank that it was made on, as all are (api/audit.py).
"""

from __future__ import annotations

import json
import logging
from datetime import datetime
from typing import Final
from uuid import uuid4

from hindsight_aws.configuration.config import resolve
from hindsight_aws.model.audit import AuditEntry
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.operation import CLONE_BANK, IMPORT_BANK, Lease
from hindsight_aws.ports.store import Transaction
from hindsight_aws.ports.transfers import NewBank
from hindsight_aws.settings import Settings, WrongSetting

_log = logging.getLogger(__name__)
_ACTIONS: Final = {CLONE_BANK: "clone_bank", IMPORT_BANK: "import_bank_transfer"}
"""As the calls that ask for them are named."""
_MADE: Final = 200


def note_made(tx: Transaction, settings: Settings, lease: Lease, bank_id: BankId, bank: NewBank, now: datetime) -> None:
    """Adds who had the bank made, and by which operation, in the transaction that gives it its name.

    Where a wrong setting of the server hides whether it is audited, that is logged: the bank stands.
    """
    try:
        is_audited = resolve(settings, json.loads(bank.config)).audit_log_enabled
    except WrongSetting as wrong:
        _log.error("that bank %s was made was not audited: %s", bank_id, wrong)
        return
    if not is_audited:
        return
    tx.audit.add(
        AuditEntry(
            entry_id=uuid4(),
            bank_id=bank_id,
            bank=bank.external_id,
            action=_ACTIONS[lease.kind],
            transport="system",
            subject=lease.subject,
            status=_MADE,
            targets={"operation_id": str(lease.operation_id)},
            started_at=lease.created_at,
            ended_at=max(lease.created_at, now),
        )
    )
