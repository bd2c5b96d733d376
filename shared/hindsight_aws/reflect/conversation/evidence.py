"""What a run has found, and how it fits into the room a synthesis has.  Pure; called by all of reflect/.

Evidence is never emptied: long pieces are cut before any piece is left out, and the best found stays whatever the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.text.tokens import count_tokens, truncate

Kind = Literal["memory", "observation", "mental_model"]

KINDS: tuple[Kind, ...] = ("memory", "observation", "mental_model")

_OF_ALIAS: dict[str, Kind] = {"f": "memory", "o": "observation", "p": "mental_model"}
_LEAST_SHARE = 48  # tokens: a piece cut shorter says nothing
_CUT = " […]"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing found: its alias, its id in the store, and its words; `date` is when it was said or true, as shown.

    `sources` are the texts beneath it that were shown.  `is_whole` is False for a page of which only the beginning was.
    """

    alias: str
    id: str
    text: str
    date: str | None
    sources: tuple[str, ...] = ()
    is_whole: bool = True

    @property
    def kind(self) -> Kind:
        """What it is: a fact, an observation or a page."""
        return _OF_ALIAS[self.alias[0]]

    @property
    def unit_id(self) -> UnitId:
        """The id of a memory; ValueError for a page."""
        return UnitId(UUID(self.id))


def of_kind(evidence: Sequence[Evidence], *kinds: Kind) -> list[Evidence]:
    """The evidence of these kinds, in its order."""
    return [piece for piece in evidence if piece.kind in kinds]


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
    return [replace(piece, text=cut(piece.text, share)) for piece in kept]


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


def cut(text: str, most: int) -> str:
    """The text, or its beginning of so many tokens with a mark that it goes on."""
    return text if count_tokens(text) <= most else truncate(text, most) + _CUT


def _fair_share(sizes: Sequence[int], room: int) -> int:
    """The size to which pieces must be cut so that all fit: what shorter ones do not use goes to the longer ones."""
    left, waiting = room, sorted(sizes)
    for index, size in enumerate(waiting):
        share = left // (len(waiting) - index)
        if size > share:
            return max(1, share)
        left -= size
    return max(sizes)


def _size(piece: Evidence) -> int:
    return count_tokens(piece.text) + sum(count_tokens(source) for source in piece.sources)


def _without_repeats(piece: Evidence) -> Evidence:
    return replace(piece, sources=tuple(source for source in piece.sources if source != piece.text))
