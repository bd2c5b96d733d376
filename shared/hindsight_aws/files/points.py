"""The named places of a file's way at which the fault harness may strike, in the order in which they are passed."""

from __future__ import annotations

from typing import Final

AFTER_SUBMIT: Final = "files.after_submit"
"""Bytes and operations are stored; nobody was woken yet."""
AFTER_LEASE: Final = "convert.after_lease"
"""The work is leased; the file was not read yet."""
AFTER_CONVERT: Final = "convert.after_convert"
"""The text is there, in memory only."""
AFTER_KEEP: Final = "convert.after_keep"
"""The file is stored a second time, to be kept; no document holds it yet."""
BEFORE_COMMIT: Final = "convert.before_commit"
"""The retain is written down; nothing of it is committed."""
AFTER_COMMIT: Final = "convert.after_commit"
"""Retain and outcome are there for all; nobody was woken, and the bytes are still stored."""
