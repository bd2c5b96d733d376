"""Where a test may strike a transfer (faults.reached)."""

from __future__ import annotations

from typing import Final

AFTER_LEASE: Final = "transfer.after_lease"
AFTER_ARCHIVE: Final = "transfer.after_archive"
BEFORE_BATCH: Final = "transfer.before_batch"
AFTER_BATCH: Final = "transfer.after_batch"
BEFORE_REVEAL: Final = "transfer.before_reveal"
BEFORE_END: Final = "transfer.before_end"
AFTER_END: Final = "transfer.after_end"
