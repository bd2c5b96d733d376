"""Finds stored chunks among the new turns of a conversation.  Called by cutting; pure.

Turns are compared as they were written, and a chunk is found where all its turns stand in a row.
"""

from __future__ import annotations

from collections.abc import Iterator

from hindsight_aws.retain.delta.former import FormerChunks, ReadTurns
from hindsight_aws.retain.delta.segments import Segment
from hindsight_aws.retain.intake.accepted import Part


def found_in_turns(
    turns: list[str], former: FormerChunks, part: Part, after: int, read: ReadTurns
) -> Iterator[Segment]:
    """The chunks that stand among the turns, in order and apart from each other; each is taken from `former`."""
    at = 0
    while at < len(turns):
        found = former.row_at(turns, at, after, part, read)
        if found is None:
            at += 1
            continue
        after, length = found
        former.take(after)
        yield Segment(at, at + length, after)
        at += length
