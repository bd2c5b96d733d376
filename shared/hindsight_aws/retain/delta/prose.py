"""Finds stored chunks in the new text of a prose part.  Called by cutting; pure.

A chunk is found where it begins and ends as a reader would cut, or where its former neighbour stands beside it: a short
one that happens to occur inside another sentence is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_aws.retain.delta.former import FormerChunks
from hindsight_aws.retain.delta.segments import SLIVER, Segment
from hindsight_aws.retain.intake.accepted import Part

_LONG: Final = 4
"""A chunk of at least this part of the chunk size is no accident wherever it begins and ends."""
_FULL_STOPS: Final = "。！？｡"
_CLOSERS: Final = "\"'”’)]」』）】"
_NEXT_START: Final = re.compile(r"\s+|[。！？｡，、；：]+")
_SPACE: Final = re.compile(r"\s*")


def found_in_prose(text: str, former: FormerChunks, part: Part, after: int, size: int) -> Iterator[Segment]:
    """The chunks that stand in the text, in order and apart from each other; each is taken from `former`.

    `after` is the place of the chunk found last, before this text.  A chunk of at least a quarter of `size` may begin
    and end between any two words, a shorter one at the ends of lines and sentences, and one of less than a tenth only
    beside its former neighbour or at the same end of the text.
    """
    end = 0
    at = _past_space(text, 0)
    while at < len(text):
        place = former.at(text, at, after, part)
        if place is not None and _is_in_place(text, former, place, at, (end, after), size):
            former.take(place)
            end = at + len(former.text(place))
            yield Segment(at, end, place)
            after = place
            at = _past_space(text, end)
        else:
            following = _NEXT_START.search(text, at)
            at = len(text) if following is None else following.end()


def _is_in_place(text: str, former: FormerChunks, place: int, at: int, last: tuple[int, int], size: int) -> bool:
    """Whether the chunk at `place` may stand from `at` on; `last` is where the chunk before ended, and its place."""
    length = len(former.text(place))
    end = at + length
    last_end, last_place = last
    starts_text = _past_space(text, 0) == at
    is_preceded = (starts_text and place == 0) or (
        last_end > 0 and place == last_place + 1 and _past_space(text, last_end) == at
    )
    rest = _past_space(text, end)
    is_followed = former.begins(place + 1, text, rest)
    is_long = length >= size // _LONG
    if length < size // SLIVER and not (is_preceded or is_followed):
        ends_both = rest == len(text) and place == len(former.chunks) - 1
        if not ends_both:
            return False
    begins_well = is_preceded or starts_text or _is_break(text, at, is_long)
    return begins_well and (is_followed or rest == len(text) or _is_break(text, end, is_long))


def _is_break(text: str, at: int, between_words: bool) -> bool:
    """Whether a line or a sentence ends at `at`, or with `between_words` any word."""
    start, end = at, _past_space(text, at)
    while start and text[start - 1].isspace():
        start -= 1
    if start == 0 or end == len(text) or "\n" in text[start:end]:
        return True
    if text[start - 1] in _FULL_STOPS + "，、；：":
        return between_words or text[start - 1] in _FULL_STOPS
    if start == end:
        return False
    return between_words or text[max(start - 8, 0) : start].rstrip(_CLOSERS)[-1:] in (*".!?…", *_FULL_STOPS)


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
