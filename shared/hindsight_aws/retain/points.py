"""The named places of a retain at which the fault harness may strike, in the order in which they are passed."""

from __future__ import annotations

from typing import Final

AFTER_SUBMIT: Final = "retain.after_submit"
"""The operation is written down; nobody was woken yet."""
AFTER_LEASE: Final = "retain.after_lease"
"""The work is leased; no model was called yet."""
AFTER_EXTRACT: Final = "retain.after_extract"
"""Every extraction is kept; no fact is stored yet."""
AFTER_EMBED: Final = "retain.after_embed"
"""The vectors are there, in memory only."""
BEFORE_COMMIT: Final = "retain.before_commit"
"""All is written; nothing of it is committed."""
AFTER_COMMIT: Final = "retain.after_commit"
"""Facts and outcome are there for all; the caller does not know yet."""
BEFORE_WAKEUP: Final = "retain.before_wakeup"
"""Nobody was told of the scopes that have work now."""
