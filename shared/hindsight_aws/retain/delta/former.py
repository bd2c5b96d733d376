"""The stored chunks of a document, to be found again in its new text: each is given out once.

Called by cutting; pure.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hindsight_aws.retain.delta.fingerprint import fingerprint
from hindsight_aws.retain.intake.accepted import Part

SHORTEST_HEAD: Final = 16
"""A chunk shorter than this is found only by being cut out whole again, not within a text."""
_LONGEST_HEAD: Final = 1024
_MOST_TRIED: Final = 16
ReadTurns = Callable[[str], "list[str] | None"]
"""Gives a text's turns as they are written, or None for a text of another form."""


@dataclass(frozen=True, slots=True)
class FormerChunk:
    """A stored chunk; `text` is empty where the bank keeps no texts, `print` None where it was not recorded."""

    index: int
    part: int | None
    text: str
    print: str | None


class FormerChunks:
    """Chunks in the order of their document.  What was taken is not found again unless it is given back."""

    def __init__(self, chunks: Sequence[FormerChunk]) -> None:
        self.chunks = tuple(chunks)
        self._texts = [chunk.text.strip() for chunk in self.chunks]
        self._by_head: defaultdict[str, list[int]] = defaultdict(list)
        self._by_print: defaultdict[str, list[int]] = defaultdict(list)
        self._free = [False] * len(self.chunks)
        self._rows: dict[ReadTurns, tuple[list[list[str]], dict[str, list[int]]]] = {}
        for place in range(len(self.chunks)):
            self.give_back(place)
        self._heads = sorted({len(head) for head in self._by_head}, reverse=True)
        self._starts = {head[:SHORTEST_HEAD] for head in self._by_head}

    def text(self, place: int) -> str:
        """The chunk's text without the space around it."""
        return self._texts[place]

    def begins(self, place: int, text: str, at: int) -> bool:
        """Whether there is a chunk at that place and it stands in the text from `at` on."""
        return 0 <= place < len(self._texts) and bool(self._texts[place]) and text.startswith(self._texts[place], at)

    def at(self, text: str, at: int, after: int, part: Part) -> int | None:
        """A free chunk that stands whole in the text from `at` on: the next after place `after`, else any other."""
        if text[at : at + SHORTEST_HEAD] not in self._starts:
            return None
        for length in self._heads:
            places = self._by_head.get(text[at : at + length], ())
            for place in islice(_in_turn(places, after), _MOST_TRIED):
                chunk = self.chunks[place]
                if text.startswith(self._texts[place], at) and fingerprint(chunk.text, part) == chunk.print:
                    return place
        return None

    def equal(self, wanted: str, after: int) -> int | None:
        """A free chunk of this fingerprint: the next after place `after`, else any other."""
        return next(_in_turn(self._by_print.get(wanted, ()), after), None)

    def row_at(self, turns: list[str], at: int, after: int, part: Part, read: ReadTurns) -> tuple[int, int] | None:
        """A free chunk whose turns, as `read` gives them, stand in a row from `at` on; its place, and how many."""
        held, by_first = self._rows_of(read)
        free = (place for place in _in_turn(by_first.get(turns[at], ()), after) if self._free[place])
        for place in islice(free, _MOST_TRIED):
            own, chunk = held[place], self.chunks[place]
            if own == turns[at : at + len(own)] and fingerprint(chunk.text, part) == chunk.print:
                return place, len(own)
        return None

    def take(self, place: int) -> None:
        """Gives this chunk out."""
        self._free[place] = False
        for places in self._lists(place):
            del places[bisect_left(places, place)]

    def give_back(self, place: int) -> None:
        """Makes a chunk that was taken free again."""
        self._free[place] = True
        for places in self._lists(place):
            insort(places, place)

    def _rows_of(self, read: ReadTurns) -> tuple[list[list[str]], dict[str, list[int]]]:
        if read not in self._rows:
            held = [read(chunk.text) or [] if chunk.text else [] for chunk in self.chunks]
            by_first: defaultdict[str, list[int]] = defaultdict(list)
            for place, own in enumerate(held):
                if own:
                    by_first[own[0]].append(place)
            self._rows[read] = held, by_first
        return self._rows[read]

    def _lists(self, place: int) -> Iterator[list[int]]:
        chunk, text = self.chunks[place], self._texts[place]
        if chunk.print is not None:
            yield self._by_print[chunk.print]
            if len(text) >= SHORTEST_HEAD:
                yield self._by_head[text[: _head_of(text)]]


def _in_turn(places: Sequence[int], after: int) -> Iterator[int]:
    """The places past `after` in order, then those before."""
    middle = bisect_left(places, after + 1)
    yield from islice(places, middle, None)
    yield from islice(places, middle)


def _head_of(text: str) -> int:
    """How much of a chunk's beginning it is looked up by: the largest power of two within its length, and bounded."""
    return int(min(1 << (len(text).bit_length() - 1), _LONGEST_HEAD))
