"""Conversations as JSON: finds their turns as written, and packs them whole.  Called by chunking."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from hindsight_aws.retain.chunking.prose import split_prose
from hindsight_aws.text.sanitise import clean

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"


def turns_of_array(text: str) -> list[str] | None:
    """The elements of a JSON array of objects, each exactly as it stands in the text, or None for any other text."""
    body = text.strip(_SPACE)
    if not (body.startswith("[") and body.endswith("]")):
        return None
    try:
        return list(_elements(body))
    except (ValueError, RecursionError):
        return None


def turns_of_lines(text: str) -> list[str] | None:
    """The lines of a text of at least two, JSON objects all (blank lines aside), or None for any other text."""
    lines = [line.strip(_SPACE) for line in text.split("\n")]
    lines = [line for line in lines if line]
    if len(lines) < 2 or not all(is_object(line) for line in lines):
        return None
    return lines


def is_object(text: str) -> bool:
    """Whether the text is one JSON object."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(_DECODER.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def pack(turns: Iterable[str], size: int, separator: int, around: int) -> Iterator[list[str]]:
    """Consecutive turns in groups whose joined length is at most `size`; a longer turn stands alone.

    `separator` and `around` are the lengths of what stands between the turns and around them.
    """
    held: list[str] = []
    length = around
    for turn in turns:
        grown = length + len(turn) + (separator if held else 0)
        if held and grown > size:
            yield held
            held, grown = [], around + len(turn)
        held.append(turn)
        length = grown
    if held:
        yield held


def split_turn(turn: str, size: int) -> list[str] | None:
    """A turn too long for one chunk as several.

    Its longest text in pieces, all else repeated; None when that cannot be done.
    """
    said = _DECODER.decode(turn)
    texts = {key: value for key, value in said.items() if isinstance(value, str)}
    if not texts:
        return None
    longest = max(texts, key=lambda key: len(texts[key]))
    room = size - len(_turn(said, longest, ""))
    if room < size // 2:
        return None
    return [_turn(said, longest, piece) for piece in _pieces(clean(texts[longest]), room)]


def _elements(body: str) -> Iterator[str]:
    at = _after_space(body, 1)
    if body[at] == "]" and at == len(body) - 1:
        return
    while True:
        element, end = _DECODER.raw_decode(body, at)
        if not isinstance(element, dict):
            raise ValueError("not an array of objects")
        yield body[at:end]
        end = _after_space(body, end)
        if body[end] == "]" and end == len(body) - 1:
            return
        if body[end] != ",":
            raise ValueError("not a JSON array")
        at = _after_space(body, end + 1)


def _after_space(body: str, at: int) -> int:
    while at < len(body) - 1 and body[at] in _SPACE:
        at += 1
    return at


def _turn(said: dict[str, object], key: str, text: str) -> str:
    return clean(json.dumps(said | {key: text}, ensure_ascii=False))


def _pieces(text: str, room: int) -> Iterator[str]:
    """Pieces of the text that stay within `room` once they are written as JSON."""
    for piece in split_prose(text, room):
        if len(json.dumps(piece, ensure_ascii=False)) - 2 <= room:
            yield piece
        else:
            yield from _pieces(piece, room if len(piece) < 2 else min(room, len(piece) // 2))
