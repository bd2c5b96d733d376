"""Reads the labels a model gave a fact: what the vocabulary knows is kept, all else is left out without a word.

Called by record_facts; pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hindsight_aws.ports.model_gateway import JsonValue
from hindsight_aws.retain.extraction.vocabulary import LabelField, LabelGroup, Vocabulary
from hindsight_aws.retain.intake.limits import LONGEST_ENTITY_CHARS
from hindsight_aws.text.sanitise import clean, is_blank
from hindsight_aws.text.tags import LONGEST_TAG_BYTES

ABSENT: Final = frozenset({"", "n/a", "none", "null"})
"""What models write where they have nothing to say, case-folded."""
MOST_LABELS: Final = 32
"""Labels of one fact; what comes after is left out."""

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels as `key:value`, or `key:field:value` for a map; `tags` are those whose group copies them to the tags."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def read_labels(given: JsonValue, vocabulary: Vocabulary) -> Labels:
    """The labels in a fact's `labels`, each once whatever its case, in the vocabulary's order and spelling.

    Takes the list of `{key, field?, value}` that the tool asks for, and an object from key to value or values.
    """
    said = list(_said(given))
    names: dict[str, str] = {}
    tags: list[str] = []
    for group in vocabulary.groups:
        for name in _names(group, said):
            if name.casefold() in names or len(names) >= MOST_LABELS:
                continue
            names[name.casefold()] = name
            tags += [name] if group.is_tag else []
    return Labels(tuple(names.values()), tuple(tags))


def _said(given: JsonValue) -> Iterator[tuple[_Path, JsonValue]]:
    """What was said, by key and, inside a map, by field."""
    if isinstance(given, dict):
        yield from (((key,), value) for key, value in given.items())
    for entry in given if isinstance(given, list) else ():
        if not isinstance(entry, dict):
            continue
        key, inner = entry.get("key"), entry.get("field")
        if isinstance(key, str):
            yield (
                (key, *(inner.replace(":", ".").split(".") if isinstance(inner, str) and inner else ())),
                entry.get("value"),
            )


def _names(group: LabelGroup, said: list[tuple[_Path, JsonValue]]) -> Iterator[str]:
    taken: set[_Path] = set()
    for (key, *inner), value in said:
        if _folded(key) != group.key.casefold():
            continue
        for place, text in _found(group.holds, tuple(inner), value, group.key):
            name = ":".join((group.key, *place, text))
            is_fit = len(name) <= LONGEST_ENTITY_CHARS and len(name.encode()) <= LONGEST_TAG_BYTES
            if is_fit and not (place in taken and _at(group.holds, place).is_single):
                taken.add(place)
                yield name


def _found(holds: LabelField, inner: _Path, value: JsonValue, key: str) -> Iterator[tuple[_Path, str]]:
    """Each value that may stand in this place, with the fields that lead to it."""
    if holds.kind == "map":
        nested: Mapping[str, JsonValue] = {inner[0]: value} if inner else value if isinstance(value, dict) else {}
        for name, below in nested.items():
            known = next((field for field in holds.fields if field.casefold() == _folded(name)), None)
            if known is not None:
                for place, text in _found(holds.fields[known], inner[1:], below, known):
                    yield (known, *place), text
    elif not inner:
        values = (_value(holds, entry, key) for entry in (value if isinstance(value, list) else [value]))
        yield from (((), text) for text in values if text is not None)


def _value(holds: LabelField, entry: JsonValue, key: str) -> str | None:
    if isinstance(entry, dict):
        entry = entry.get("value")
    if isinstance(entry, bool) or not isinstance(entry, str | int | float):
        return None
    text = " ".join(clean(str(entry)).split())
    if text.casefold().startswith(f"{key.casefold()}:"):
        text = text[len(key) + 1 :].strip()
    if text.casefold() in ABSENT or is_blank(text):
        return None
    if not holds.is_closed:
        return text
    return next((value for value in holds.values if value.casefold() == text.casefold()), None)


def _at(holds: LabelField, place: _Path) -> LabelField:
    for name in place:
        holds = holds.fields[name]
    return holds


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
