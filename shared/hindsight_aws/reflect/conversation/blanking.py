"""Shows a conversation that outgrew its room with its oldest results blanked.  Pure; called by the steps.

The full results stay in the run's rows: an answer is then made from those, not from this conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject, ToolResult, Turn
from hindsight_aws.text.tokens import count_tokens

_BLANK: JsonObject = {"note": "Left out here for room; it counts in the answer all the same."}


def compacted(turns: Sequence[Turn], room: int) -> tuple[Turn, ...]:
    """The turns within about `room` tokens: as many of the oldest results blanked as that takes, pairing kept."""
    over = sum(_size(result) for turn in turns for result in turn.results) - room
    shown = []
    for turn in turns:
        results = []
        for result in turn.results:
            is_blanked = over > 0 and not result.failed
            over -= _size(result) if is_blanked else 0
            results.append(replace(result, document=_BLANK) if is_blanked else result)
        shown.append(replace(turn, results=tuple(results)))
    return tuple(shown)


def _size(result: ToolResult) -> int:
    return count_tokens(str(result.document))
