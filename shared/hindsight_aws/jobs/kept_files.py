"""Deletes kept files whose document is gone, has another text, or never came to be.

Called by the sweep; calls files/.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.files import FileStore
from hindsight_aws.ports.store import DueWork, Store

_log = logging.getLogger(__name__)

LONGEST_S: Final = 10.0
"""How long one sweep works on kept files; its function may run for 60 s."""


def tend_kept_files(store: Store, files: FileStore | None, due: Sequence[DueWork], seconds: float = LONGEST_S) -> None:
    """Deletes the bytes, then the row, of each file that nothing holds, while there is time.

    Guarantees: killed anywhere, the next sweep goes on; a bank that fails is logged and costs no other its turn.
    """
    if files is None or not due:
        return
    # The package takes a sweep as long to load as all the rest of it, and few sweeps have files to tend.
    from hindsight_aws.files.tend import delete_unheld

    until = time.monotonic() + seconds
    for work in due:
        if time.monotonic() >= until:
            break
        bank_id = BankId(work.bank_id)
        try:
            delete_unheld(store, files, work.tenant_id, bank_id, until)
        except HindsightError as error:
            _log.warning("kept files of bank %s stay for now: %s: %s", bank_id, type(error).__name__, error)
