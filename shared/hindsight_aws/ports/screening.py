"""What a deployment may plug in beside the built-in detectors: a guard outside the process, such as a model's.

Called by retain/intake/guard before the first transaction; fulfilled by the class that HINDSIGHT_CONTENT_GUARD names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class ContentGuard(Protocol):
    """Tells text that gives orders to a model from text that is only to be remembered."""

    def find(self, texts: Sequence[str]) -> Sequence[Sequence[tuple[int, int]]]:
        """For each text the half-open spans that are injected instructions, none where it is harmless.

        Raises: ModelError; the retain is then refused, for what was not looked at is not stored.
        """
        ...
