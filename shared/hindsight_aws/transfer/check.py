"""Checks of an archive's rows that the schema does not make: what would be read without a doubt later.

Called by restore.py; calls what checks the same at the API.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, cast
from uuid import UUID

from hindsight_aws.errors import ArchiveRefused, InvalidRequest
from hindsight_aws.model.trigger import Trigger, creator_from_json, patched
from hindsight_aws.model.webhook import HttpConfig
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.settings import Settings
from hindsight_aws.transfer.columns import moment_of, params_of, scopes_of, texts_of
from hindsight_aws.transfer.kinds import MEMORIES, Kind
from hindsight_aws.webhooks.check import check_events, check_http, check_url, rules_of

_LISTS_OF_TEXTS: Final = frozenset({"tags", "sight_types", "sight_scopes", "scope_types", "event_types"})
_DATES: Final = frozenset(
    {"event_date", "occurred_start", "occurred_end", "first_seen", "last_seen", "last_dated", "last_cooccurred"}
)
_MAY_COME: Final = _DATES | {"mentioned_at", "due_at"}
"""Times that may lie ahead.  Every other one says when something was done, and that cannot be after now."""
_MOST: Final = 2**30
"""No count of ours comes near; what is added to it later still fits its column."""
_NO_COUNTS: Final = frozenset({"key", "priority"})


def check_row(kind: Kind, row: JsonObject, settings: Settings, now: datetime) -> JsonObject:
    """The row as it may be written.  Raises: ArchiveRefused."""
    row = {name: _checked(kind, name, value, now) for name, value in row.items()}
    try:
        if kind.name == "webhooks":
            _check_webhook(row, settings)
        elif kind.name == "mental_models":
            creator_from_json(cast(JsonObject, row["creator"]))
            patched(Trigger(), cast(JsonObject, row["trigger"]))
        elif kind.name == "documents":
            params_of(kind, row)
        elif kind.name == "memories":
            return _memory(row)
        elif kind.name == "invalidated":
            scopes_of(kind, row)
        elif kind.name == "revisions":
            _check_evidence(row)
    except ArchiveRefused:
        raise
    except (InvalidRequest, AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise ArchiveRefused(f"{kind.member} holds a row that is none: {wrong}"[:500]) from wrong
    return row


def _checked(kind: Kind, name: str, value: JsonValue, now: datetime) -> JsonValue:
    """A column's value as it may be written, whatever the kind.

    A time is one that every reader of ours can read; one that says when something was done is now at the latest, for
    what is dated later no erasure would ever meet.
    """
    if value is None:
        return None
    if name in _LISTS_OF_TEXTS:
        texts_of(kind, name, value)
    if type(value) is int and abs(value) > _MOST and name not in _NO_COUNTS:
        raise ArchiveRefused(f"{kind.member}: {name} is out of every range")
    if name in {"response", "structure"} and not isinstance(value, dict):
        raise ArchiveRefused(f"{kind.member}: {name} must be an object")
    if name not in _DATES and not name.endswith(("_at", "_since")):
        return value
    if (kind.name, name, value) == ("work", "due_at", "infinity"):
        return value
    moment = moment_of(value)
    return None if moment is None else (moment if name in _MAY_COME else min(moment, now)).isoformat()


def _check_evidence(row: JsonObject) -> None:
    """What a former observation rested on: each a fact, and the words in it unless they were taken.

    Raises: ValueError and the like.
    """
    for piece in cast("list[JsonObject]", row["evidence"]):
        UUID(str(piece["fact_id"]))
        if row.get("blanked_at") is None and not (
            isinstance(piece["quote"], str) and piece["origin"] in {"model", "whole"}
        ):
            raise ValueError("evidence needs a quote and its origin")


def _memory(row: JsonObject) -> JsonObject:
    """The number of terms is what counters go down by when the memory goes: it is counted, not believed."""
    postings = cast(JsonObject, row["postings"])
    if not all(type(count) is int and 0 < count < 32_768 for count in postings.values()):
        raise ArchiveRefused("memories.jsonl: postings must count terms")
    if row.get("fact_type") not in {"world", "experience", "observation"}:
        raise ArchiveRefused("memories.jsonl: fact_type must be world, experience or observation")
    scopes_of(MEMORIES, row)
    if not all(isinstance(each, str) for each in cast(JsonObject, row["metadata"]).values()):
        raise ArchiveRefused("memories.jsonl: values of metadata must be texts")
    return {**row, "terms": sum(cast("list[int]", list(postings.values())))}


def _check_webhook(row: JsonObject, settings: Settings) -> None:
    check_url(str(row["url"]), rules_of(settings))
    check_events(tuple(str(each) for each in cast("list[object]", row["event_types"])))
    params = {str(name): str(value) for name, value in cast(JsonObject, row["params"]).items()}
    check_http(HttpConfig(str(row["method"]), cast(int, row["timeout_seconds"]), {}, params))
