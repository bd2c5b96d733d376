"""Short names of one run for what was shown in it: f1 a fact, o1 an observation, p1 a page, c1 a chunk.  Pure.

transcript.py gives them; tools take them as arguments, and they leave the answer before anybody reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

UNVERIFIED = "[unverified id]"

_PROSE = frozenset({"query", "reason"})
_WORDS = re.compile(r"\w+")
_ALIAS = re.compile(r"\b[fopc][1-9]\d{0,5}\b")
_IN_BRACKETS = re.compile(r"[\[(][fopc][1-9]\d{0,5}(?:\s*[,;]\s*[fopc][1-9]\d{0,5})*[\])]")
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)


def resolved(said: JsonObject, ids: Mapping[str, str]) -> JsonObject:
    """A tool's arguments with real ids for aliases: whole strings only, and never in what is prose."""
    return {name: value if name in _PROSE else _resolved(value, ids) for name, value in said.items()}


def in_prose(text: str, ids: Mapping[str, str], words: frozenset[str]) -> str:
    """The text with real ids for aliases: those in brackets, and bare ones that are no word of what was read."""
    bracketed = _IN_BRACKETS.sub(lambda found: _ALIAS.sub(lambda one: ids.get(one[0], one[0]), found[0]), text)
    return _ALIAS.sub(lambda one: one[0] if one[0] in words else ids.get(one[0], one[0]), bracketed)


def words_like_aliases(texts: Iterable[str]) -> frozenset[str]:
    """The words of these texts that could be taken for aliases, in lower case."""
    return frozenset(word for text in texts for word in map(str.lower, _WORDS.findall(text)) if _ALIAS.fullmatch(word))


def uuids(texts: Iterable[str]) -> frozenset[str]:
    """Every UUID that stands in these texts, in lower case."""
    return frozenset(found.lower() for text in texts for found in _UUID.findall(text))


def verified(text: str, known: frozenset[str]) -> str:
    """The text with a mark in place of every UUID that is not among these."""
    return _UUID.sub(lambda found: found[0] if found[0].lower() in known else UNVERIFIED, text)


def _resolved(value: JsonValue, ids: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return ids.get(value.strip(), value)
    if isinstance(value, list):
        return [_resolved(one, ids) for one in value]
    return {name: _resolved(one, ids) for name, one in value.items()} if isinstance(value, dict) else value
