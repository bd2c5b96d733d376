"""Reads the model's `revise_observations` input strictly: shapes and types, nothing about meaning.

Pure.  Called by ask.py and check.py.  Forgives only what costs nothing: a lone id where a list is asked for, `id` for
`observation_id` in a delete, nulls for absent lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hindsight_aws.errors import ModelReplyMalformed

_LISTS = ("creates", "updates", "deletes", "skipped")


@dataclass(frozen=True, slots=True)
class Action:
    """A create, or an update when `observation_id` is set; ids as spelled by the model."""

    text: str
    source_fact_ids: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...] = ()
    observation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """A delete, with the heir it names."""

    observation_id: str
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply's four lists."""

    creates: tuple[Action, ...] = ()
    updates: tuple[Action, ...] = ()
    deletes: tuple[Deletion, ...] = ()
    skipped: tuple[str, ...] = ()


def read_reply(value: Mapping[str, object]) -> Reply:
    """The reply in `value`.  Raises: ModelReplyMalformed naming the place, when anything in it has the wrong shape."""
    unknown = [key for key in value if key not in _LISTS]
    if unknown and not any(key in value for key in _LISTS):
        raise ModelReplyMalformed(f"the reply has {unknown[0]!r} and none of {', '.join(_LISTS)}")
    return Reply(
        creates=tuple(_action(entry, f"creates[{i}]", False) for i, entry in enumerate(_list(value, "creates"))),
        updates=tuple(_action(entry, f"updates[{i}]", True) for i, entry in enumerate(_list(value, "updates"))),
        deletes=tuple(_deletion(entry, f"deletes[{i}]") for i, entry in enumerate(_list(value, "deletes"))),
        skipped=tuple(_skip(entry, f"skipped[{i}]") for i, entry in enumerate(_list(value, "skipped"))),
    )


def _list(value: Mapping[str, object], key: str) -> list[object]:
    found = value.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise ModelReplyMalformed(f"{key} is not a list")
    return found


def _object(entry: object, where: str) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise ModelReplyMalformed(f"{where} is not an object")
    return entry


def _string(entry: Mapping[str, object], key: str, where: str) -> str:
    found = entry.get(key)
    if not isinstance(found, str):
        raise ModelReplyMalformed(f"{where}.{key} is not a string")
    return found


def _action(entry: object, where: str, is_update: bool) -> Action:
    checked = _object(entry, where)
    return Action(
        text=_string(checked, "text", where),
        source_fact_ids=_ids(checked.get("source_fact_ids"), f"{where}.source_fact_ids"),
        quotes=_quotes(checked.get("quotes")),
        observation_id=_string(checked, "observation_id", where) if is_update else None,
    )


def _ids(found: object, where: str) -> tuple[str, ...]:
    if isinstance(found, str):
        return (found,)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ModelReplyMalformed(f"{where} is not a list of ids")
    return tuple(found)


def _quotes(found: object) -> tuple[tuple[str, str], ...]:
    """The well-formed quotes; a malformed one is as good as none, for the fact's whole text stands in."""
    return tuple(
        (quote["fact_id"], quote["quote"])
        for quote in (found if isinstance(found, list) else [])
        if isinstance(quote, dict) and isinstance(quote.get("fact_id"), str) and isinstance(quote.get("quote"), str)
    )


def _deletion(entry: object, where: str) -> Deletion:
    checked = _object(entry, where)
    named = checked.get("observation_id", checked.get("id"))
    if not isinstance(named, str):
        raise ModelReplyMalformed(f"{where}.observation_id is not a string")
    heir = checked.get("merged_into")
    return Deletion(named, heir if isinstance(heir, str) and heir.strip() else None)


def _skip(entry: object, where: str) -> str:
    return entry if isinstance(entry, str) else _string(_object(entry, where), "fact_id", where)
