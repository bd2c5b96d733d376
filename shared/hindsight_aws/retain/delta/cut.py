"""Cuts a document's parts into chunks so that stored chunks which are still there stay as they are.

Called by the plan; calls chunking and the finders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.chunking.turns import are_lines, each_line, is_object, turns_of_array
from hindsight_aws.retain.delta.fingerprint import fingerprint
from hindsight_aws.retain.delta.former import FormerChunks, ReadTurns
from hindsight_aws.retain.delta.prose import found_in_prose
from hindsight_aws.retain.delta.segments import SLACK, Segment, with_gaps, without_slivers
from hindsight_aws.retain.delta.turns import found_in_turns
from hindsight_aws.retain.intake.accepted import Part


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of the part at `part`; `former` is the place of the stored chunk that it is, or None for a new one."""

    part: int
    text: str
    print: str
    former: int | None = None


def cut_afresh(parts: Sequence[Part], size: int, structured: int | None) -> list[Piece]:
    """The parts' chunks, none of them known."""
    return [
        Piece(place, text, fingerprint(text, part))
        for place, part in enumerate(parts)
        for text in chunk_text(part.content, size, structured)
    ]


def cut_again(parts: Sequence[Part], former: FormerChunks, size: int, structured: int | None) -> list[Piece]:
    """The parts' chunks: every stored chunk still found whole is one of them, and only what is between is cut anew.

    Each stored chunk is used once, so a text that stands there five times is five chunks.  Joined, the chunks of a part
    are its text but for white space.
    """
    pieces: list[Piece] = []
    after = -1
    for place, part in enumerate(parts):
        for piece in _cut_part(place, part, former, after, size, structured):
            pieces.append(piece)
            after = after if piece.former is None else piece.former
    return pieces


def _cut_part(
    place: int, part: Part, former: FormerChunks, after: int, size: int, structured: int | None
) -> Iterator[Piece]:
    whole = fingerprint(part.content, part)
    same = former.equal(whole, after)
    if same is not None:
        former.take(same)
        yield Piece(place, part.content, whole, same)
        return
    for text, found in _stretches(part, former, after, size, structured):
        if found is not None:
            chunk = former.chunks[found]
            after = found
            yield Piece(place, chunk.text, chunk.print or "", found)
            continue
        wanted = fingerprint(text, part)
        equal = former.equal(wanted, after)
        if equal is not None:
            former.take(equal)
            after = equal
        yield Piece(place, text, wanted, equal)


@dataclass(frozen=True, slots=True)
class _Form:
    """How turns are written: `frame` around them, `separator` between."""

    read: ReadTurns
    frame: str
    separator: str

    def write(self, turns: Sequence[str]) -> str:
        return self.frame.replace("{}", self.separator.join(turns), 1)


def _lines(text: str) -> list[str] | None:
    """The turns of JSON lines; a single line counts here, for a chunk may hold one."""
    if is_object(text):
        return [text]
    return list(each_line(text)) if are_lines(text) else None


_FORMS = (_Form(turns_of_array, "[{}]", ","), _Form(_lines, "{}", "\n"))


def _stretches(
    part: Part, former: FormerChunks, after: int, size: int, structured: int | None
) -> Iterator[tuple[str, int | None]]:
    """The part in chunks, each with the place of the stored chunk found there, or None."""
    for form in _FORMS:
        turns = form.read(part.content)
        if turns is not None:
            found = list(found_in_turns(turns, former, part, after, form.read))
            lengths = [0, *accumulate(len(turn) + len(form.separator) for turn in turns)]
            segments = _settled(found, former, lengths, size)
            cut = ((segment, form.write(turns[segment.start : segment.end])) for segment in segments)
            break
    else:
        found = list(found_in_prose(part.content, former, part, after, size))
        segments = _settled(found, former, range(len(part.content) + 1), size)
        cut = ((segment, part.content[segment.start : segment.end].strip()) for segment in segments)
    if all(segment.former is None for segment in segments):
        yield from ((text, None) for text in chunk_text(part.content, size, structured))
        return
    for segment, text in cut:
        if segment.former is not None:
            yield text, segment.former
        elif text and len(text) <= size + size // SLACK:
            yield text, None
        elif text:
            yield from ((smaller, None) for smaller in chunk_text(text, size, structured))


def _settled(found: Sequence[Segment], former: FormerChunks, ends: Sequence[int], size: int) -> list[Segment]:
    """Chunks found and what lies between, slivers joined; `ends[n]` is how long the first n characters or turns are."""
    all_of_it = with_gaps(found, len(ends) - 1)
    segments = without_slivers(all_of_it, [ends[each.end] - ends[each.start] for each in all_of_it], size)
    kept = {segment.former for segment in segments}
    for segment in found:
        if segment.former is not None and segment.former not in kept:
            former.give_back(segment.former)
    return segments
