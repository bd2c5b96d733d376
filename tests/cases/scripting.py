"""Turns a case's scripted replies into those of the loopback model: names of fields, ids behind `$F1` and `$O1`.

Called by the player before each step. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Resolve = Callable[[str, int], str | None]
"""The id of the n-th fact ("F") or observation ("O"), counted from 1, or None while there is none."""

TASKS: Final = {
    "extract": "extract_facts",
    "consolidate": "consolidate",
    "judge": "judge_duplicate",
    "reflect": "reflect_turn",
    "embed": "embed",
}
_ALIAS: Final = re.compile(r"\$([FO])(\d+)")


def as_replies(given: Any) -> list[Any]:
    """A task's replies in order; a lone one stands for a list of one."""
    return list(given) if isinstance(given, list) else [given]


def scripted(task: str, reply: Any, resolve: Resolve) -> Any:
    """One reply as the loopback model takes it."""
    whole = resolved(_expanded(reply), resolve)
    if task == "extract" and isinstance(whole, dict) and isinstance(whole.get("facts"), list):
        return {**whole, "facts": [_fact(fact) for fact in whole["facts"]]}
    return whole


def resolved(value: Any, resolve: Resolve) -> Any:
    """The value with the ids that its aliases stand for; an alias of nothing stays as it is."""
    if isinstance(value, str):
        return _ALIAS.sub(lambda found: resolve(found[1], int(found[2])) or found[0], value)
    if isinstance(value, Mapping):
        return {key: resolved(inner, resolve) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [resolved(inner, resolve) for inner in value]
    return value


def _expanded(value: Any) -> Any:
    """The value with `text_repeat: [s, n]` written out as `text`."""
    if isinstance(value, list):
        return [_expanded(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _expanded(inner) for key, inner in value.items() if key != "text_repeat"}
    if "text_repeat" in value:
        text, times = value["text_repeat"]
        plain["text"] = text * times
    return plain


def _fact(fact: Any) -> Any:
    """A fact of the neutral form in the words of `record_facts`; anything else is passed on as it is."""
    if not isinstance(fact, dict) or "text" not in fact or "what" in fact:
        return fact
    plain = {key: value for key, value in fact.items() if key != "text"}
    entities = [{"text": name} if isinstance(name, str) else name for name in plain.pop("entities", [])]
    is_event = "occurred_start" in plain or "occurred_end" in plain
    kind = {"fact_kind": "event"} if is_event else {}
    return {"what": fact["text"], "fact_type": "world", **kind, **plain, "entities": entities}
