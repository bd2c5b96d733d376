"""Where a test may strike a re-embedding (faults.reached)."""

from __future__ import annotations

from typing import Final

AFTER_LEASE: Final = "reembed.after_lease"
AFTER_EMBED: Final = "reembed.after_embed"
AFTER_BATCH: Final = "reembed.after_batch"
AFTER_CLOSE: Final = "reembed.after_close"
ALL_MADE: Final = "reembed.all_made"
BEFORE_ADOPTION: Final = "reembed.before_adoption"
AFTER_ADOPTION: Final = "reembed.after_adoption"
AFTER_MOVE: Final = "reembed.after_move"
BEFORE_END: Final = "reembed.before_end"
AFTER_DROP: Final = "reembed.after_drop"
AFTER_END: Final = "reembed.after_end"
