"""Reads what the model recorded: strict about each fact, so that a malformed one costs none of its neighbours.

Called by extraction; pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.extraction.dates import from_words, occurred, zone_of
from hindsight_aws.retain.extraction.found import Extraction, FoundFact, RetainedType
from hindsight_aws.retain.extraction.wording import fact_text, says_something
from hindsight_aws.retain.intake.limits import LONGEST_ENTITY_CHARS
from hindsight_aws.text.sanitise import clean, is_blank

_WHAT: Final = ("what", "text")
"""Models that answer in prose rather than by the tool write `text`, the word of every other schema they are shown."""
_ABSENT: Final = frozenset({"", "n/a", "none", "null"})
_MOST_SHOWN: Final = 80


class _Malformed(Exception):
    """This fact, and only this one, does not hold to the schema."""


@dataclass(frozen=True, slots=True)
class _Raw:
    place: int
    fields: JsonObject


def read_facts(recorded: JsonObject, happened: datetime | None) -> Extraction:
    """The facts in a `record_facts` input.  A fact without text is skipped, a malformed one becomes a problem.

    Raises: ModelReplyMalformed when the input is not `{"facts": […]}`, or when facts were given and none can be read.
    """
    given = recorded.get("facts")
    if not isinstance(given, list):
        raise ModelReplyMalformed(f"record_facts was used with {_keys(recorded)} instead of a list named facts")
    kept: dict[int, FoundFact] = {}
    problems: list[str] = []
    places: dict[int, int] = {}
    for place, entry in enumerate(given):
        try:
            fact = _read(entry, place, places, happened)
        except _Malformed as problem:
            problems.append(f"facts[{place}] {problem}")
            continue
        if fact is not None:
            places[place] = len(kept)
            kept[place] = fact
    if problems and not kept:
        raise ModelReplyMalformed("; ".join(problems[:3]))
    return Extraction(tuple(kept.values()), tuple(problems))


def _read(entry: JsonValue, place: int, places: dict[int, int], happened: datetime | None) -> FoundFact | None:
    """The fact, or None when its text is empty.  `places` maps the model's numbering to the facts that were kept."""
    if not isinstance(entry, dict):
        raise _Malformed("is not an object")
    raw = _Raw(place, entry)
    named = next((name for name in _WHAT if name in entry), None)
    if named is None:
        raise _Malformed(f"has no `what` but {_keys(entry)}")
    what = _text(raw, named)
    if what is None:
        return None
    when, why = _text(raw, "when"), _text(raw, "why")
    text = fact_text(what, when, _text(raw, "where"), list(_names(raw, "who")), why)
    if not says_something(text):
        return None
    span = _span(raw, f"{what} {when or ''}", happened)
    return FoundFact(
        text=text,
        fact_type=_type(entry),
        occurred_start=span[0] if span else None,
        occurred_end=span[1] if span else None,
        entities=tuple(dict.fromkeys(_names(raw, "entities"))),
        causes=tuple(dict.fromkeys(_causes(raw, places))),
    )


def _text(raw: _Raw, name: str) -> str | None:
    value = raw.fields.get(name)
    if value in (None, [], {}):
        return None
    if not isinstance(value, str):
        raise _Malformed(f"has a `{name}` that is not text")
    text = clean(value).strip()
    return None if text.casefold() in _ABSENT or is_blank(text) else text


def _names(raw: _Raw, name: str) -> Iterator[str]:
    """Names from a list of texts or of `{text}` objects; a lone one counts as a list of one."""
    value = raw.fields.get(name)
    for entry in value if isinstance(value, list) else [value]:
        named = entry.get("text") if isinstance(entry, dict) else entry
        if named is None:
            continue
        if not isinstance(named, str):
            raise _Malformed(f"has {name} that are not names")
        cleaned = " ".join(clean(named).split())
        if cleaned.casefold() not in _ABSENT and not is_blank(cleaned) and len(cleaned) <= LONGEST_ENTITY_CHARS:
            yield cleaned


def _causes(raw: _Raw, places: dict[int, int]) -> Iterator[int]:
    """Earlier facts that were kept; anything else the model wrote there is dropped, the fact stays."""
    value = raw.fields.get("caused_by")
    for entry in value if isinstance(value, list) else [value]:
        cause = (
            int(entry) if isinstance(entry, str) and entry.isascii() and entry.isdigit() and len(entry) < 9 else entry
        )
        if isinstance(cause, int) and not isinstance(cause, bool) and cause < raw.place and cause in places:
            yield places[cause]


def _type(fields: JsonObject) -> RetainedType:
    said = fields.get("fact_type")
    if said in ("experience", "assistant"):
        return "experience"
    return "experience" if said != "world" and fields.get("fact_kind") == "assistant" else "world"


def _span(raw: _Raw, words: str, happened: datetime | None) -> tuple[datetime, datetime] | None:
    """When an event happened.

    As the model dated it, else as its words say.  A fact of unnamed kind may be dated by the model only.
    """
    kind = raw.fields.get("fact_kind")
    if kind in ("conversation", "other"):
        return None
    start, end = raw.fields.get("occurred_start"), raw.fields.get("occurred_end")
    span = occurred(start if isinstance(start, str) else None, end if isinstance(end, str) else None, zone_of(happened))
    if span is not None or happened is None or kind != "event":
        return span
    day = from_words(words, happened)
    return None if day is None else (day, day)


def _keys(fields: JsonObject) -> str:
    return ", ".join(sorted(clean(key)[:_MOST_SHOWN] for key in fields)[:8]) or "nothing"
