"""The ways in which a text can be read: as it stands, and with its JSON escapes written out, as chunking writes them.

Called by screening/look, so that a find is a find however it is spelled; pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hindsight_aws.screening.secrets import Span
from hindsight_aws.text.sanitise import clean

_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[\"\\/bfnrt]"
)
_DEEPEST: Final = 4
"""JSON within strings of JSON, as tools answer each other, is read down to here; each level halves its backslashes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as somebody may read it, and the way back to where it stands in the text that is stored."""

    text: str
    to_source: Callable[[Sequence[Span]], list[Span]]


def readings(text: str, named: str = "") -> Iterator[Reading]:
    """The text as it stands, behind the name it is stored under where it has one, and with its escapes written out.

    What no text is stored with (`clean`) counts as absent in an escape, too.
    """
    yield Reading(text, list)
    reading = Reading(text, list)
    if named:
        reading = _behind(named, text)
        yield reading
    for _ in range(_DEEPEST):
        written_out = _written_out(reading)
        if written_out is None:
            return
        reading = written_out
        yield reading


def joined(spans: Iterable[Span]) -> list[Span]:
    """The spans of several readings in order, those that overlap as one."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((start, end))
    return apart


def _behind(name: str, text: str) -> Reading:
    before = len(f"{name}: ")

    def to_source(spans: Sequence[Span]) -> list[Span]:
        return [(max(0, start - before), end - before) for start, end in spans if end > before]

    return Reading(f"{name}: {text}", to_source)


def _written_out(reading: Reading) -> Reading | None:
    """The reading with one level of escapes written out; None where it has none."""
    if "\\" not in reading.text:
        return None
    text = _ESCAPE.sub(lambda found: _character(found[0]), reading.text)
    if text == reading.text:
        return None
    return Reading(text, lambda spans: reading.to_source(_before_writing_out(reading.text, spans)))


@lru_cache(maxsize=65_536)
def _character(escape: str) -> str:
    decoded: str = json.loads(f'"{escape}"')
    return clean(decoded)


def _before_writing_out(text: str, spans: Sequence[Span]) -> list[Span]:
    """Where the spans of the text written out stand in the text; takes one walk over its escapes."""
    found: dict[int, Span] = {}
    escapes = _ESCAPE.finditer(text)
    escape = next(escapes, None)
    shift = 0
    for at in sorted({at for start, end in spans if start < end for at in (start, end - 1)}):
        while escape is not None and escape.start() - shift + (length := len(_character(escape[0]))) <= at:
            shift += len(escape[0]) - length
            escape = next(escapes, None)
        is_escape = escape is not None and escape.start() - shift <= at
        found[at] = escape.span() if escape is not None and is_escape else (at + shift, at + shift + 1)
    return [(found[start][0], found[end - 1][1]) for start, end in spans if start < end]
