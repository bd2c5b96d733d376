"""The cases of our own file that cannot pass yet, and why. A case that starts to pass must be taken off."""

from __future__ import annotations

from typing import Final

EXPECTED_TO_FAIL: Final[dict[str, str]] = {}
