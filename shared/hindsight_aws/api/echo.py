"""What of a request may stand in an answer or a header: finite, short, shallow, and without secrets or personal data.

Called by errors and wire.  A bank's own policy is not known yet where a request is refused, so the strictest holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.model.screening import GROUPS, ScreeningPolicy

_STRICTEST: Final = ScreeningPolicy(dict.fromkeys(GROUPS["sensitive_data"], "redact"))
_LONGEST_ECHO = 1_000
_LONGEST_LOOKED_AT = 20_000
_MOST_ECHOED = 20
_DEEPEST_ECHO = 6


def harmless(text: str, named: str = "") -> str:
    """The text, which stands under a name or not, with placeholders for what screening would find in it."""
    # Late: functions that only read load screening when something goes wrong, not at every cold start.
    from hindsight_aws.screening import without_finds

    return without_finds(_STRICTEST, text[:_LONGEST_LOOKED_AT], named)


def shown(value: object, depth: int = 0, named: str = "") -> object:
    """The value as something that can be shown; of megabytes only the beginning comes back."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = harmless(value, named)
        return text if len(value) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO]}… ({len(value)} characters)"
    if isinstance(value, int | float):
        text = harmless(str(value)[:40])
        return value if abs(value) < 1e18 and text == str(value) else text
    if depth >= _DEEPEST_ECHO:
        return "…"
    if isinstance(value, Mapping):
        entries = list(value.items())[:_MOST_ECHOED]
        return {harmless(str(key))[:100]: shown(child, depth + 1, str(key)[:100]) for key, child in entries}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [shown(child, depth + 1) for child in list(value)[:_MOST_ECHOED]]
    return harmless(str(value))[:_LONGEST_ECHO]
