"""Reads what the model recorded: strict about each fact, so that a malformed one costs none of its neighbours.

Called by extraction; pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.extraction.dates import from_words, occurred, zone_of
from hindsight_aws.retain.extraction.found import Extraction, FoundFact, RetainedType
from hindsight_aws.retain.extraction.labels import ABSENT, Labels, read_labels
from hindsight_aws.retain.extraction.vocabulary import Vocabulary
from hindsight_aws.retain.extraction.wording import fact_text, says_something
from hindsight_aws.retain.intake.limits import LONGEST_ENTITY_CHARS
from hindsight_aws.text.sanitise import clean, is_blank

_WHAT: Final = ("what", "text")
"""Models that answer in prose rather than by the tool write `text`, the word of every other schema they are shown."""
_MOST_SHOWN: Final = 80


class _Malformed(Exception):
    """This fact, and only this one, does not hold to the schema."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a reply is read: the date of what was read, the bank's vocabulary, and `verbatim` the text that is the fact.

    With `verbatim` a fact needs no words of its own.  What was not asked for (`causes` False) is not read either.
    """

    happened: datetime | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    verbatim: str | None = None
    causes: bool = True


def read_facts(recorded: JsonObject, reading: Reading) -> Extraction:
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
            fact = _read(entry, places, reading)
        except _Malformed as problem:
            problems.append(f"facts[{place}] {problem}")
            continue
        if fact is not None:
            places[place] = len(kept)
            kept[place] = fact
    if problems and not kept:
        raise ModelReplyMalformed("; ".join(problems[:3]))
    return Extraction(tuple(kept.values()), tuple(problems))


def _read(entry: JsonValue, places: dict[int, int], reading: Reading) -> FoundFact | None:
    """The fact, or None when its text is empty.  `places` maps the model's numbering to the facts that were kept."""
    if not isinstance(entry, dict):
        raise _Malformed("is not an object")
    when, where = _dimension(entry, "when"), _dimension(entry, "where")
    what = _what(entry) if reading.verbatim is None else None
    if reading.verbatim is not None:
        text = reading.verbatim
    elif what is not None:
        text = fact_text(what, when, where, list(_names(entry, "who")), _dimension(entry, "why"))
    else:
        return None
    if not says_something(text):
        return None
    span = _span(entry, f"{what or ''} {when or ''}", reading.happened)
    labels = read_labels(entry.get("labels"), reading.vocabulary) if reading.vocabulary.groups else Labels()
    names = dict.fromkeys(_names(entry, "entities")) if reading.vocabulary.free_form else ()
    return FoundFact(
        text=text,
        fact_type=_type(entry),
        occurred_start=span[0] if span else None,
        occurred_end=span[1] if span else None,
        entities=tuple(names),
        causes=tuple(dict.fromkeys(_causes(entry, places))) if reading.causes else (),
        where=where,
        labels=labels.names,
        label_tags=labels.tags,
    )


def _what(fields: JsonObject) -> str | None:
    """The fact's words, the one thing it cannot be without."""
    named = next((name for name in _WHAT if name in fields), None)
    if named is None:
        raise _Malformed(f"has no `what` but {_keys(fields)}")
    value = fields[named]
    if not isinstance(value, str) and value not in (None, [], {}):
        raise _Malformed(f"has a `{named}` that is not text")
    return _text(value)


def _dimension(fields: JsonObject, name: str) -> str | None:
    """What else is said of the fact, several texts as one; in another form it is left out, and the fact stays."""
    value = fields.get(name)
    texts = [_text(entry) for entry in (value if isinstance(value, list) else [value])]
    return ", ".join(text for text in texts if text) or None


def _text(value: JsonValue) -> str | None:
    text = clean(value).strip() if isinstance(value, str) else ""
    return None if text.casefold() in ABSENT or is_blank(text) else text


def _names(fields: JsonObject, name: str) -> Iterator[str]:
    """Names from a list of texts or of `{text}` objects; a lone one counts as a list of one."""
    value = fields.get(name)
    for entry in value if isinstance(value, list) else [value]:
        named = _text(entry.get("text") if isinstance(entry, dict) else entry)
        if named is not None and len(named) <= LONGEST_ENTITY_CHARS:
            yield " ".join(named.split())


def _causes(fields: JsonObject, places: dict[int, int]) -> Iterator[int]:
    """Earlier facts that were kept: `places` holds no others yet.  Whatever else the model wrote there is dropped."""
    value = fields.get("caused_by")
    for entry in value if isinstance(value, list) else [value]:
        cause = _index(entry)
        if cause is not None and cause in places:
            yield places[cause]


def _index(entry: JsonValue) -> int | None:
    """A position as the tool wants it, as digits, or in an object that says no other kind of relation."""
    if isinstance(entry, dict):
        is_cause = entry.get("relation_type", "caused_by") == "caused_by"
        return _index(entry["target_index"]) if is_cause and isinstance(entry.get("target_index"), int | str) else None
    if isinstance(entry, str) and entry.isascii() and entry.isdigit() and len(entry) < 9:
        return int(entry)
    return entry if isinstance(entry, int) and not isinstance(entry, bool) else None


def _type(fields: JsonObject) -> RetainedType:
    said = fields.get("fact_type")
    if said in ("experience", "assistant"):
        return "experience"
    return "experience" if said != "world" and fields.get("fact_kind") == "assistant" else "world"


def _span(fields: JsonObject, words: str, happened: datetime | None) -> tuple[datetime, datetime] | None:
    """When an event happened.

    As the model dated it, else as its words say.  A fact of unnamed kind may be dated by the model only.
    """
    kind = fields.get("fact_kind")
    if kind in ("conversation", "other"):
        return None
    start, end = fields.get("occurred_start"), fields.get("occurred_end")
    span = occurred(start if isinstance(start, str) else None, end if isinstance(end, str) else None, zone_of(happened))
    if span is not None or happened is None or kind != "event":
        return span
    day = from_words(words, happened)
    return None if day is None else (day, day)


def _keys(fields: JsonObject) -> str:
    return ", ".join(sorted(clean(key)[:_MOST_SHOWN] for key in fields)[:8]) or "nothing"
