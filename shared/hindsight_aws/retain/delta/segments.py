"""Stretches of a part's new text: stored chunks found again, and what lies between them.  Called by cutting; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SLIVER = 10
"""A stretch shorter than this part of the chunk size is no chunk of its own where a neighbour can take it in."""
SLACK = 10
"""A stretch longer than the chunk size by no more than this part of it stays one chunk: better that than a sliver."""


@dataclass(frozen=True, slots=True)
class Segment:
    """From `start` up to `end`, in characters or in turns; `former` is the place of the chunk found there, or None."""

    start: int
    end: int
    former: int | None = None


def with_gaps(found: Iterable[Segment], length: int) -> list[Segment]:
    """The segments found, in order, and those between and around them."""
    segments: list[Segment] = []
    at = 0
    for segment in found:
        if segment.start > at:
            segments.append(Segment(at, segment.start))
        segments.append(segment)
        at = segment.end
    if at < length:
        segments.append(Segment(at, length))
    return segments


def without_slivers(segments: Sequence[Segment], lengths: Sequence[int], size: int) -> list[Segment]:
    """The segments, each sliver of new text joined with a neighbour where both fit into one chunk.

    `lengths` are those of the segments, in characters.  A chunk that takes in a sliver is no longer the former one.
    """
    most = size + size // SLACK
    joined: list[Segment] = []
    sizes: list[int] = []
    for segment, length in zip(segments, lengths, strict=True):
        if joined and sizes[-1] + length <= most and _is_sliver_beside(joined[-1], sizes[-1], segment, length, size):
            joined[-1] = Segment(joined[-1].start, segment.end)
            sizes[-1] += length
        else:
            joined.append(segment)
            sizes.append(length)
    return joined


def _is_sliver_beside(left: Segment, left_length: int, right: Segment, right_length: int, size: int) -> bool:
    return any(
        segment.former is None and length < size // SLIVER
        for segment, length in ((left, left_length), (right, right_length))
    )
