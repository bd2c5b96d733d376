"""Cuts a text into the chunks that are extracted one by one.  Called by retain's plan; calls prose and turns."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight_aws.retain.chunking.prose import split_prose
from hindsight_aws.retain.chunking.turns import is_object, pack, split_turn, turns_of_array, turns_of_lines


def chunk_text(text: str, size: int, structured_size: int | None = None) -> list[str]:
    """The text in chunks of at most `size` code points, in order, without overlap.

    Text that fits is one chunk, unchanged.  A JSON array of objects and JSON lines are cut between turns, each kept
    as it was written; a turn stays whole up to `structured_size` (default: `size`), past which its longest text is
    cut and the rest of it repeated.  All else is prose.  Chunking a chunk again gives that chunk.
    """
    if len(text) <= size:
        return [text]
    whole = structured_size or size
    turns = turns_of_array(text)
    if turns is not None:
        return list(_of_turns(turns, size, whole, ",", "[{}]")) or ["[]"]
    if is_object(text.strip()):
        return [text.strip()] if len(text.strip()) <= whole else split_prose(text, size)
    lines = turns_of_lines(text)
    if lines is not None:
        return list(_of_turns(lines, size, whole, "\n", "{}"))
    return split_prose(text, size)


def _of_turns(turns: list[str], size: int, whole: int, separator: str, form: str) -> Iterator[str]:
    """Chunks of whole turns written in `form`.

    A turn that can be cut only as prose gives chunks of its own, outside the form.
    """
    around = len(form) - len("{}")
    fitting: list[str] = []
    for turn in turns:
        if len(turn) + around <= whole:
            fitting.append(turn)
            continue
        smaller = split_turn(turn, min(whole, size) - around)
        if smaller is not None:
            fitting.extend(smaller)
            continue
        yield from _written(fitting, size, separator, form)
        fitting = []
        yield from split_prose(turn, min(whole, size))
    yield from _written(fitting, size, separator, form)


def _written(turns: list[str], size: int, separator: str, form: str) -> Iterator[str]:
    around = len(form) - len("{}")
    return (form.replace("{}", separator.join(group), 1) for group in pack(turns, size, len(separator), around))
