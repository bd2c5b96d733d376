"""The schema of a mental model's trigger, and what the shorthands beside it mean."""

from __future__ import annotations

from typing import Final

from hindsight_aws.api.mcp.arguments import anything, maybe, strings
from hindsight_aws.api.mcp.tool import Arguments
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

_TYPES: Final[JsonObject] = {"type": "string", "enum": ["world", "experience", "observation"]}
_MATCHES: Final[JsonObject] = {"type": "string", "enum": ["any", "all", "any_strict", "all_strict", "exact"]}
_FIELDS: Final[JsonObject] = {
    "mode": maybe({"type": "string", "enum": ["full", "delta"]}),
    "refresh_after_consolidation": maybe("boolean"),
    "refresh_cron": maybe("string"),
    "full_refresh_cron": maybe("string"),
    "min_refresh_interval_seconds": maybe({"type": "integer", "minimum": 0}),
    "fact_types": maybe({"type": "array", "items": _TYPES}),
    "exclude_mental_models": maybe("boolean"),
    "exclude_mental_model_ids": maybe(strings()),
    "tags_match": maybe(_MATCHES),
    "tag_groups": maybe({"type": "array", "items": anything()}),
    "include_chunks": maybe("boolean"),
    "recall_max_tokens": maybe("integer"),
    "recall_chunks_max_tokens": maybe("integer"),
    "budget": maybe({"type": "string", "enum": ["low", "mid", "high"]}),
    "reflect_search_observations_max_tokens": maybe({"type": "integer", "minimum": 1}),
    "reflect_search_observations_include_entities": maybe("boolean"),
    "response_schema": maybe(anything()),
    "keep_trace": maybe("boolean"),
}
TRIGGER: Final = maybe(
    {"type": "object", "additionalProperties": False, "properties": _FIELDS},
    "When the text is written anew, and from what; what is left out keeps its default.",
)


def with_trigger(body: JsonObject, given: Arguments) -> JsonObject:
    """The body with the trigger that the arguments describe, if they do.  Raises InvalidRequest."""
    trigger = _trigger_of(given)
    return body if trigger is None else {**body, "trigger": trigger}


def _trigger_of(given: Arguments) -> JsonObject | None:
    """The trigger with the shorthands laid into it; None when nothing is said of it.  Raises InvalidRequest."""
    said = given.get("trigger", {})
    if not isinstance(said, dict):
        raise InvalidRequest("'trigger' must be an object")
    short: dict[str, JsonValue] = {
        "tags_match": given.get("tags_match"),
        "refresh_after_consolidation": given.get(
            "trigger_refresh_after_consolidation", given.get("refresh_after_consolidation")
        ),
    }
    laid = {**said, **{name: value for name, value in short.items() if value is not None}}
    trigger: JsonObject = {name: value for name, value in laid.items() if name in _FIELDS and value is not None}
    return trigger or None
