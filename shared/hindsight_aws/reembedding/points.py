"""Where a test may strike a re-embedding (faults.reached)."""

from __future__ import annotations

from typing import Final

AFTER_LEASE: Final = "reembed.after_lease"
AFTER_EMBED: Final = "reembed.after_embed"
AFTER_BATCH: Final = "reembed.after_batch"
AFTER_CLOSE: Final = "reembed.after_close"
AMID_REPLACING: Final = "reembed.amid_replacing"
BEFORE_END: Final = "reembed.before_end"
AFTER_END: Final = "reembed.after_end"
