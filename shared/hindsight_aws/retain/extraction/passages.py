"""Makes passages of chunks: where each stands in its document, and the text around it, which is only to be read.

Called by retain's plan and by the dry run; pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final

from hindsight_aws.retain.intake.accepted import Part
from hindsight_aws.text.graphemes import cut_before

MOST_AROUND: Final = 300
"""Characters of the neighbouring text shown on either side: two or three sentences, enough to tell who "she" is."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with what the model may know of it; `position` counts from 0 within its document of `total` chunks.

    `before` and `after` are the ends of its neighbours: they explain the text, and no fact is made of them.
    `is_dated` tells a date the caller gave from the moment of submission.
    """

    text: str
    position: int = 0
    total: int = 1
    happened: datetime | None = None
    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    is_dated: bool = True


Cut = Sequence[tuple[Part, str]]
"""Consecutive chunks of one document, each with the part it was cut from."""


def passages_of(cut: Cut, first: int = 0, before: str = "", *, is_one_text: bool = True) -> list[Passage]:
    """A passage for each of the chunks.

    `first` is how many chunks of the document stand before them, and `before` the text that does, if it may be shown.
    Parts that only share a document (`is_one_text` false: nobody named it) are not each other's neighbours, and each
    counts its own chunks.  A neighbour is shown only where it carries the same tags and scopes: no word of another
    scope comes near a fact.
    """
    if is_one_text:
        return [_passage(cut, place, first, before) for place in range(len(cut))]
    parts = (list(run) for _, run in groupby(cut, key=lambda chunk: chunk[0].position))
    return [_passage(run, place, 0, "") for run in parts for place in range(len(run))]


def _passage(cut: Cut, place: int, first: int, before: str) -> Passage:
    part, text = cut[place]
    return Passage(
        text=text,
        position=first + place,
        total=first + len(cut),
        happened=part.happened,
        context=part.context,
        metadata=part.metadata,
        before=end_of(_neighbour(cut, place, -1) if place else before),
        after=start_of(_neighbour(cut, place, 1)),
        is_dated=part.is_dated,
    )


def _neighbour(cut: Cut, place: int, step: int) -> str:
    """The chunk on that side, empty where there is none that may be seen from here."""
    if not 0 <= place + step < len(cut):
        return ""
    here, (there, text) = cut[place][0], cut[place + step]
    is_visible = set(here.tags) == set(there.tags) and here.observation_scopes == there.observation_scopes
    return text if is_visible else ""


def start_of(text: str) -> str:
    """The beginning of a text, ended at a white space where one is near."""
    text = text.strip()
    if len(text) <= MOST_AROUND:
        return text
    shown = text[: cut_before(text, MOST_AROUND)]
    words = shown.rsplit(None, 1)
    return words[0] if len(words[0]) > MOST_AROUND // 2 else shown


def end_of(text: str) -> str:
    """The end of a text, begun after a white space where one is near."""
    text = text.strip()
    if len(text) <= MOST_AROUND:
        return text
    place = len(text) - MOST_AROUND
    shown = text[cut_before(text, place) :]
    words = shown.split(None, 1)
    return words[-1] if len(words[-1]) > MOST_AROUND // 2 else shown
