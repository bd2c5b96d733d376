"""Columns of an archive's rows as what they mean.  Called by check.py, documents.py and vectors.py.

An archive comes from anybody: each raises ArchiveRefused, naming the member, for a value that the column cannot hold.
"""

from __future__ import annotations

from datetime import UTC, datetime

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.model.scope import SCOPE_MODES, ObservationScopes
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.intake.accepted import scopes_from_json
from hindsight_aws.transfer.kinds import Kind


def text_of(kind: Kind, row: JsonObject, column: str) -> str:
    """A text that must be there."""
    value = row.get(column)
    if not isinstance(value, str):
        raise ArchiveRefused(f"{kind.member}: {column} must be a text")
    return value


def texts_of(kind: Kind, column: str, value: JsonValue) -> tuple[str, ...]:
    """A list of texts, such as tags, each of which says something; the same one twice is one."""
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise ArchiveRefused(f"{kind.member}: {column} must be a list of texts")
    return tuple(dict.fromkeys(str(each) for each in value))


def called_of(kind: Kind, row: JsonObject) -> list[tuple[str, str]]:
    """The names of a fact's entities, each with its kind; none of a kind of row that has no such column."""
    if "called" not in kind.lists:
        return []
    called = row.get("called")
    if not isinstance(called, list):
        raise ArchiveRefused(f"{kind.member}: called must be pairs of a name and its kind")
    return [_pair(kind, each) for each in called]


def _pair(kind: Kind, value: JsonValue) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        raise ArchiveRefused(f"{kind.member}: called must be pairs of a name and its kind")
    return str(value[0]), str(value[1])


def scopes_of(kind: Kind, row: JsonObject) -> ObservationScopes | None:
    """The scopes that were asked for; what nobody can ask for is refused."""
    value = row.get("observation_scopes")
    is_list = isinstance(value, list) and all(
        isinstance(entry, list) and all(isinstance(tag, str) for tag in entry) for entry in value
    )
    if value is None or value in SCOPE_MODES or is_list:
        return scopes_from_json(value)
    raise ArchiveRefused(f"{kind.member}: observation_scopes must be a mode, or lists of tags")


def moment_of(value: JsonValue) -> datetime | None:
    """A time as Postgres writes it in JSON, in UTC, or None; refused also for a year that is none."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
        if moment.tzinfo is None:
            raise ArchiveRefused(f"{str(value)[:60]!r} has no zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ArchiveRefused(f"{str(value)[:60]!r} is not a time") from None


def params_of(kind: Kind, document: JsonObject) -> JsonObject:
    """How the document's items were retained: what reads it when the document is made anew believes it.

    Raises: ArchiveRefused.
    """
    params = document.get("retain_params")
    parts = params.get("parts", []) if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(parts, list) or not all(_is_part(kind, part) for part in parts):
        raise ArchiveRefused(f"{kind.member}: retain_params must hold the parts of a document")
    return params


def _is_part(kind: Kind, part: JsonValue) -> bool:
    match part:
        case {
            "position": int(),
            "content": int() | str(),
            "happened": str() | None as happened,
            "is_dated": bool(),
            "context": str() | None,
            "metadata": dict(metadata),
            "entities": list(entities),
            "tags": list(tags),
            "strategy": str() | None,
        } if isinstance(part, dict) and isinstance(types := part.get("entity_types", {}), dict):
            moment_of(happened)
            scopes_of(kind, part)
            texts = (*metadata.values(), *entities, *tags, *types.values())
            places = [part[name] for name in ("at", "turns") if name in part and (name, part[name]) != ("turns", None)]
            return all(map(_is_span, places)) and all(isinstance(each, str) for each in texts)
    return False


def _is_span(value: JsonValue) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value)
