"""Compares two statements: do they say the same, does one add to the other, or do they disagree.

Called by `consolidate` and `judge_duplicate`; calls `language`. Pure.
"""

from __future__ import annotations

import re
from typing import Literal

from infra.local.bedrock.rules.language import content_words, names, numbers, overlap, stem

Relation = Literal["same", "adds", "covered", "disagrees", "unrelated"]

_RELATED = 0.5
_DISAGREES_FROM = 0.3
_OPPOSITES = [
    frozenset(map(stem, pair.split()))
    for pair in (
        "love hate", "like dislike", "likes hates", "loves dislikes", "start stop", "open closed", "buy sell",
        "enable disable", "increase decrease", "hire fire", "join leave", "allow forbid", "accept reject",
        "single married", "vegetarian meat", "on off", "win lose", "begin end", "prefers avoids",
    )
]  # fmt: skip
_NEGATION = re.compile(r"\b(?:not|never|no longer|no|cannot|\w+n['’]t)\b", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:lives?|moved|works?|is based|stays?|resides?|relocated)\b", re.IGNORECASE)


def relation(new: str, known: str) -> Relation:
    """How a new statement stands to a known one."""
    if _name_others(new, known):
        return "unrelated"
    one, other = content_words(new), content_words(known)
    shared = overlap(one, other)
    if shared >= _DISAGREES_FROM and _disagree(new, known, one, other):
        return "disagrees"
    if _moved(new, known):
        return "disagrees"
    if one == other:
        return "same"
    if one and one < other and len(one) >= 2:
        return "covered"
    if shared >= _RELATED:
        return "adds"
    return "unrelated"


def closeness(new: str, known: str) -> float:
    """The share of words in common, for choosing among related statements."""
    return overlap(content_words(new), content_words(known))


def _disagree(new: str, known: str, one: frozenset[str], other: frozenset[str]) -> bool:
    here, there = one - other, other - one
    if any(len(pair) == 2 and pair & here and pair & there and pair - here <= there for pair in _OPPOSITES):
        return True
    shared = overlap(one, other)
    if bool(_NEGATION.search(new)) != bool(_NEGATION.search(known)) and shared >= _RELATED:
        return True
    figures, known_figures = numbers(new), numbers(known)
    return bool(figures and known_figures and figures != known_figures and shared >= _RELATED)


def _name_others(new: str, known: str) -> bool:
    """Whether both open with a name, and with different ones: near-named things are never one."""
    here, there = names(new)[:1], names(known)[:1]
    if not here or not there:
        return False
    one, other = set(here[0].split()), set(there[0].split())
    return not (one <= other or other <= one)


def _moved(new: str, known: str) -> bool:
    """Whether both place the same name, and in different places."""
    if not (_PLACED.search(new) and _PLACED.search(known)):
        return False
    here, there = names(new), names(known)
    return len(here) > 1 and len(there) > 1 and here[0] == there[0] and set(here[1:]).isdisjoint(there[1:])
