"""A document's whole text, made of its parts, and where in it each part stands.  Called by the plan; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.chunking.turns import turns_of_array
from hindsight_aws.retain.intake.accepted import Part, part_from_json, part_to_json

Kept = Mapping[str, object]
"""A part as its document's row keeps it: all but its text, and where in the body that stands."""


@dataclass(frozen=True, slots=True)
class Body:
    """The text, and its parts as the row keeps them.

    `at` is a part's stretch of the text.  Of a conversation made of several parts the stretch is the whole, and `turns`
    says which of its turns are the part's.
    """

    text: str
    parts: tuple[JsonObject, ...]


def body_of(parts: Sequence[Part], before: str | None = None, kept: Sequence[Kept] = ()) -> Body:
    """The parts as one text, behind the text `before` if there is one, whose parts are `kept`.

    JSON conversations become one conversation, all else is joined by line feeds: what was there before is still there,
    turn by turn or as the text's beginning.
    """
    texts = [part.content for part in parts]
    rows = [part_to_json(part) | {"content": len(part.content)} for part in parts]
    former = [cast("JsonObject", dict(part)) for part in kept]
    if before is not None:
        texts.insert(0, before)
    if len(texts) > 1:
        conversations = [turns_of_array(text) for text in texts]
        if all(turns is not None for turns in conversations):
            return _conversation([turns or [] for turns in conversations], former, rows)
    start = 0
    for row, text in zip([None, *rows] if before is not None else rows, texts, strict=True):
        if row is not None:
            row["at"] = [start, start + len(text)]
        start += len(text) + 1
    return Body(texts[0] if len(texts) == 1 else "\n".join(texts), (*former, *rows))


def texts_of(body: str, kept: Sequence[Kept]) -> list[str] | None:
    """The text of each part of a stored body, or None where its parts are not told apart."""
    if len(kept) == 1 and "turns" not in kept[0]:
        return [body]
    if any("at" not in part for part in kept):
        return _by_length(body, kept)
    read: dict[str, list[str]] = {}
    texts: list[str] = []
    for part in kept:
        start, end = cast("list[int]", part["at"])
        text = body[start:end]
        if part.get("turns") is not None:
            first, last = cast("list[int]", part["turns"])
            if text not in read:
                read[text] = turns_of_array(text) or []
            text = f"[{','.join(read[text][first:last])}]"
        texts.append(text)
    return texts


def parts_again(body: str, kept: Sequence[Kept]) -> tuple[Part, ...]:
    """The parts of a stored document, as they were retained.

    One part of the first one's date and labels where they are not told apart.
    """
    texts = texts_of(body, kept)
    if not kept or texts is None:
        kept, texts = (kept[:1], [body])
    return tuple(
        part_from_json(cast("JsonObject", {**part, "content": text, "position": place}))
        for place, (part, text) in enumerate(zip(kept, texts, strict=False))
    )


def _conversation(turns: Sequence[list[str]], former: list[JsonObject], rows: list[JsonObject]) -> Body:
    text = f"[{','.join(turn for of_part in turns for turn in of_part)}]"
    whole: list[JsonValue] = [0, len(text)]
    place = 0
    if len(turns) > len(rows):
        place = len(turns[0])
        for part in former:
            part["at"] = whole
            if part.get("turns") is None and len(former) == 1:
                part["turns"] = [0, place]
    for row, own in zip(rows, turns[len(turns) - len(rows) :], strict=True):
        row |= {"at": whole, "turns": [place, place + len(own)]}
        place += len(own)
    return Body(text, (*former, *rows))


def _by_length(body: str, kept: Sequence[Kept]) -> list[str] | None:
    """The texts of parts that were joined by line feeds before their places were written down."""
    lengths = [cast("int", part.get("content", 0)) for part in kept]
    if sum(lengths) + len(lengths) - 1 != len(body):
        return None
    texts: list[str] = []
    start = 0
    for length in lengths:
        texts.append(body[start : start + length])
        start += length + 1
    return texts
