"""Deletes kept files whose document is gone, has another text, or never came to be.

Called by the sweep's job; calls the store and the files.
"""

from __future__ import annotations

import time
from typing import Final

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.files import FileStore
from hindsight_aws.ports.store import Store

MOST_FILES: Final = 100
"""Of one bank in one sweep: each is a call of S3."""


def delete_unheld(store: Store, files: FileStore, tenant_id: TenantId, bank_id: BankId, until: float) -> None:
    """Deletes the bytes, then the row, of files of the bank that nothing holds, `until` this time of time.monotonic().

    Guarantees: killed anywhere, the next call goes on.
    Raises: FilesUnavailable and what the database does; what is deleted by then stays so.
    """
    with store.transaction(tenant_id) as tx:
        condemned = tx.kept_files.condemn(bank_id, MOST_FILES)
    gone = []
    for file_id, key in condemned.items():
        if time.monotonic() >= until:
            break
        files.delete(key)
        gone.append(file_id)
    with store.transaction(tenant_id) as tx:
        tx.kept_files.remove(bank_id, sorted(gone))
