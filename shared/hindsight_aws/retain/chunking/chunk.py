"""Cuts a text into the chunks that are extracted one by one.  Called by retain's plan; calls prose and turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from hindsight_aws.retain.chunking.prose import each_piece
from hindsight_aws.retain.chunking.turns import (
    are_lines,
    each_element,
    each_line,
    is_array,
    is_object,
    pack,
    split_turn,
)


def chunk_text(text: str, size: int, structured_size: int | None = None) -> list[str]:
    """The text in chunks of at most `size` code points, in order, without overlap.

    Text that fits is one chunk, unchanged.  A JSON array of objects and JSON lines are cut between turns, each kept
    as it was written; a turn stays whole up to `structured_size` (default: `size`), past which its longest text is
    cut and the rest of it repeated.  All else is prose.  Chunking a chunk again gives that chunk.
    """
    return list(each_chunk(text, size, structured_size))


def each_chunk(text: str, size: int, structured_size: int | None = None) -> Iterator[str]:
    """As `chunk_text`, one chunk after the other: a long text is never in memory a second time."""
    whole = structured_size or size
    if len(text) <= size:
        yield text
    elif is_array(text):
        turns = _of_turns(each_element(text), size, whole, ",", "[{}]")
        first = next(turns, "[]")
        yield first
        yield from turns
    elif is_object(text.strip()):
        yield from [text.strip()] if len(text.strip()) <= whole else each_piece(text, size)
    elif are_lines(text):
        yield from _of_turns(each_line(text), size, whole, "\n", "{}")
    else:
        yield from each_piece(text, size)


def _of_turns(turns: Iterable[str], size: int, whole: int, separator: str, form: str) -> Iterator[str]:
    """Chunks of whole turns written in `form`.

    A turn that can be cut only as prose gives chunks of its own, outside the form.
    """
    around = len(form) - len("{}")
    opening, closing = form.split("{}")
    for is_fitting, run in groupby(_cut(turns, size, whole, around), key=lambda piece: piece[1]):
        pieces = (piece for piece, _ in run)
        if is_fitting:
            for group in pack(pieces, size, len(separator), around):
                yield f"{opening}{separator.join(group)}{closing}"
        else:
            yield from pieces


def _cut(turns: Iterable[str], size: int, whole: int, around: int) -> Iterator[tuple[str, bool]]:
    """Each turn, or the pieces of one that is too long; and whether it can stand in the form."""
    for turn in turns:
        if len(turn) + around <= whole:
            yield turn, True
            continue
        smaller = split_turn(turn, min(whole, size) - around)
        if smaller is not None:
            yield from ((piece, True) for piece in smaller)
        else:
            yield from ((piece, False) for piece in each_piece(turn, min(whole, size)))
