"""Packs evidence past the room of one call into parts, and reads the claims that were drawn from each.

Pure; called by the planner, which knows only sizes, and by the steps, which have the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation.evidence import Evidence, fit
from hindsight_aws.text.tokens import count_tokens, truncate

MOST_CHUNKS = 32
"""Claims calls that one run makes at most at a time; past it entries are cut, never left out."""
_OVERHEAD = 24  # tokens: what an entry's alias, date and JSON take


def entries(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence as what can be packed apart: each piece, then each source that was opened beneath it."""
    apart: list[Evidence] = []
    for piece in evidence:
        apart.append(replace(piece, sources=()))
        sources = [source for source in piece.sources if source != piece.text]
        apart += [replace(piece, text=source, sources=()) for source in sources]
    return apart


def sizes(evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The tokens of each entry as it is shown."""
    return tuple(count_tokens(entry.text) + _OVERHEAD for entry in entries(evidence))


def part(evidence: Sequence[Evidence], chunk: tuple[int, int], most: int) -> list[Evidence]:
    """The entries of one range; one longer than `most` tokens is cut to that."""
    start, end = chunk
    shown = []
    for entry in entries(evidence)[start:end]:
        is_long = count_tokens(entry.text) > most
        shown.append(replace(entry, text=truncate(entry.text, most) + " […]") if is_long else entry)
    return shown


def fitted(claims: Sequence[JsonObject], room: int) -> list[JsonObject]:
    """The claims within about `room` tokens: long ones are cut before the last are left out."""
    pieces = [Evidence(str(claim["id"]), "", str(claim["text"]), None) for claim in claims]
    kept = fit(pieces, room)
    return [{**claim, "text": piece.text} for claim, piece in zip(claims, kept, strict=False)]


def pack(of: Sequence[int], room: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Ranges of entries, in order, each within `room` tokens, and the size to which longer entries are cut.

    Every entry stands in exactly one range.  Each range is filled before the next is begun; there are at most
    MOST_CHUNKS, for which long entries are cut further.
    """
    most = room
    ranges = _ranges(of, room, most)
    while len(ranges) > MOST_CHUNKS and most > 1:
        most = max(1, most // 2)
        ranges = _ranges(of, room, most)
    if len(ranges) > MOST_CHUNKS:
        share = -(-len(of) // MOST_CHUNKS)
        ranges = [(start, min(start + share, len(of))) for start in range(0, len(of), share)]
        most = max(1, room // share)
    return tuple(ranges), most


def _ranges(of: Sequence[int], room: int, most: int) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    start, filled = 0, 0
    for index, size in enumerate(of):
        taken = min(size, most)
        if index > start and filled + taken > room:
            ranges.append((start, index))
            start, filled = index, 0
        filled += taken
    if of:
        ranges.append((start, len(of)))
    return ranges


def read_claims(said: JsonObject, known: Sequence[str]) -> list[JsonObject]:
    """The claims of one reply as records of the block `claims`; what has no words, or rests on nothing shown, goes.

    A record's `id` is the first alias it rests on, `also` are the others.
    """
    listed = said.get("claims")
    records: list[JsonObject] = []
    for claim in listed if isinstance(listed, list) else []:
        if not isinstance(claim, dict):
            continue
        text, ids, date = claim.get("text"), _aliases(claim.get("ids"), known), claim.get("date")
        if not isinstance(text, str) or not text.strip() or not ids:
            continue
        record: JsonObject = {"id": ids[0], "text": text.strip()}
        if ids[1:]:
            record["also"] = [*ids[1:]]
        if isinstance(date, str) and date.strip():
            record["mentioned_at"] = date.strip()
        records.append(record)
    return records


def _aliases(value: JsonValue, known: Sequence[str]) -> list[str]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [one for one in dict.fromkeys(str(one).strip() for one in given) if one in known]
