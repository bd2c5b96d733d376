"""Conversations as JSON: finds their turns as written, and packs them whole.  Called by chunking."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from hindsight_aws.retain.chunking.prose import each_piece
from hindsight_aws.text.sanitise import clean

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"


def turns_of_array(text: str) -> list[str] | None:
    """The elements of a JSON array of objects, each exactly as it stands in the text, or None for any other text."""
    return list(each_element(text)) if is_array(text) else None


def is_array(text: str) -> bool:
    """Whether the text is one JSON array of objects and of nothing else."""
    try:
        return all(True for _ in each_element(text))
    except (ValueError, RecursionError):
        return False


def each_element(text: str) -> Iterator[str]:
    """The elements of an array that passed `is_array`, each as it stands; raises ValueError where it is none."""
    body = text.strip(_SPACE)
    if not (body.startswith("[") and body.endswith("]")):
        raise ValueError("not a JSON array")
    at = _after_space(body, 1)
    if body[at] == "]" and at == len(body) - 1:
        return
    while True:
        end = _end_of_object(body, at)
        yield body[at:end]
        end = _after_space(body, end)
        if body[end] == "]" and end == len(body) - 1:
            return
        if body[end] != ",":
            raise ValueError("not a JSON array")
        at = _after_space(body, end + 1)


def are_lines(text: str) -> bool:
    """Whether the text is at least two lines, JSON objects all, blank lines aside."""
    seen = 0
    for line in each_line(text):
        if not is_object(line):
            return False
        seen += 1
    return seen >= 2


def each_line(text: str) -> Iterator[str]:
    """The lines of the text that are not blank, trimmed."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip(_SPACE)
        if line:
            yield line
        start = end + 1


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


def split_turn(turn: str, size: int) -> Iterator[str] | None:
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
    return (_turn(said, longest, piece) for piece in _pieces(clean(texts[longest]), room))


def _end_of_object(body: str, at: int) -> int:
    """Where the object that begins at `at` ends; raises ValueError where none does."""
    element, end = _DECODER.raw_decode(body, at)
    if not isinstance(element, dict):
        raise ValueError("not an array of objects")
    return end


def _after_space(body: str, at: int) -> int:
    while at < len(body) - 1 and body[at] in _SPACE:
        at += 1
    return at


def _turn(said: dict[str, object], key: str, text: str) -> str:
    return clean(json.dumps(said | {key: text}, ensure_ascii=False))


def _pieces(text: str, room: int) -> Iterator[str]:
    """Pieces of the text that stay within `room` once they are written as JSON."""
    for piece in each_piece(text, room):
        if len(json.dumps(piece, ensure_ascii=False)) - 2 <= room:
            yield piece
        else:
            yield from _pieces(piece, room if len(piece) < 2 else min(room, len(piece) // 2))
