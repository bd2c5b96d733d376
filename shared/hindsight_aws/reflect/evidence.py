"""Fits what was found into the room a synthesis has.  Pure; called by the steps.

Evidence is never emptied: long pieces are cut before any piece is left out, and the best found stays whatever the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.transcript import Evidence
from hindsight_aws.text.tokens import count_tokens, truncate

_LEAST_SHARE = 48  # tokens: a piece cut shorter says nothing
_CUT = " […]"


def fit(evidence: Sequence[Evidence], room: int) -> list[Evidence]:
    """The evidence within about `room` tokens, in its order.

    Sources opened with `expand` are dropped before any text is cut.  Short pieces stay whole; the long ones share what
    is left evenly.  Only when even that leaves too little for each are the last found left out.
    """
    whole = [_without_repeats(piece) for piece in evidence]
    if sum(_size(piece) for piece in whole) <= room:
        return whole
    bare = [replace(piece, sources=()) for piece in whole]
    kept = bare[: max(1, room // _LEAST_SHARE)]
    share = _fair_share([count_tokens(piece.text) for piece in kept], room)
    return [replace(piece, text=_cut(piece.text, share)) for piece in kept]


def as_block(evidence: Sequence[Evidence]) -> list[JsonObject]:
    """The evidence as the records of a data block."""
    return [
        {
            "id": piece.alias,
            "text": piece.text,
            **({"mentioned_at": piece.date} if piece.date else {}),
            **({"sources": list(piece.sources)} if piece.sources else {}),
        }
        for piece in evidence
    ]


def _fair_share(sizes: Sequence[int], room: int) -> int:
    """The size to which pieces must be cut so that all fit: what shorter ones do not use goes to the longer ones."""
    left, waiting = room, sorted(sizes)
    for index, size in enumerate(waiting):
        share = left // (len(waiting) - index)
        if size > share:
            return max(1, share)
        left -= size
    return max(sizes)


def _cut(text: str, most: int) -> str:
    return text if count_tokens(text) <= most else truncate(text, most) + _CUT


def _size(piece: Evidence) -> int:
    return count_tokens(piece.text) + sum(count_tokens(source) for source in piece.sources)


def _without_repeats(piece: Evidence) -> Evidence:
    return replace(piece, sources=tuple(source for source in piece.sources if source != piece.text))
