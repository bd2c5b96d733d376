"""Tools for mental models, the pages that keep an answer, and for directives, the rules of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_aws.api.mcp.arguments import flag, maybe, number, strings, text
from hindsight_aws.api.mcp.catalogue.banks import SKIPPED, most
from hindsight_aws.api.mcp.catalogue.trigger import TRIGGER, with_trigger
from hindsight_aws.api.mcp.tool import BANK, Arguments, Effect, RouteCall, Tool, asking, at, same
from hindsight_aws.ports.model_gateway import JsonObject

_MODELS: Final = f"{BANK}/mental-models"
_MODEL: Final = f"{_MODELS}/{{mental_model_id}}"
_ID: Final[dict[str, JsonObject]] = {"mental_model_id": text("The id of the mental model.")}
_WHEN: Final[dict[str, JsonObject]] = {
    "trigger": TRIGGER,
    "tags_match": maybe("string", "How its labels select the memories it is written from; as in the trigger."),
    "trigger_refresh_after_consolidation": maybe("boolean", "Whether new memories have it written anew."),
}


def _create(given: Arguments) -> Sequence[RouteCall]:
    body: JsonObject = {name: given[name] for name in ("name", "source_query", "tags", "max_tokens") if name in given}
    if "mental_model_id" in given:
        body["id"] = given["mental_model_id"]
    return [RouteCall("POST", at(_MODELS, given), body=with_trigger(body, given))]


def _update(given: Arguments) -> Sequence[RouteCall]:
    body: JsonObject = {name: given[name] for name in ("name", "source_query", "tags", "max_tokens") if name in given}
    return [RouteCall("PATCH", at(_MODEL, given), body=with_trigger(body, given))]


TOOLS: Final = (
    Tool(
        "list_mental_models",
        "Lists mental models: pages that keep the answer to a standing question up to date.",
        Effect.READS,
        asking("GET", _MODELS, query=same("tags limit offset")),
        {
            "tags": maybe(strings(), "Only those with one of these labels."),
            "limit": most(100, least=1, most=1000),
            "offset": SKIPPED,
        },
    ),
    Tool(
        "get_mental_model",
        "Reads a mental model.",
        Effect.READS,
        asking("GET", _MODEL, query=same("detail")),
        {**_ID, "detail": text("`metadata`, `content`, or `full` with what the text rests on.", "full")},
        ("mental_model_id",),
    ),
    Tool(
        "create_mental_model",
        "Makes a mental model for a question that will be asked again; its text is written behind the scenes.",
        Effect.ADDS,
        _create,
        {
            "name": text("What people call it."),
            "source_query": text("The question that it answers."),
            "mental_model_id": maybe("string", "Its id; one is made if left out."),
            "tags": maybe(strings(), "Its labels, which also select the memories it is written from."),
            "max_tokens": number(2048, "How long its text may be."),
            **_WHEN,
        },
        ("name", "source_query"),
    ),
    Tool(
        "update_mental_model",
        "Changes a mental model; what is left out stays, and its text is not written anew.",
        Effect.SETS,
        _update,
        {
            **_ID,
            "name": maybe("string", "What people call it."),
            "source_query": maybe("string", "The question that it answers."),
            "max_tokens": maybe("integer", "How long its text may be."),
            "tags": maybe(strings(), "Its labels; an empty list takes them away."),
            **_WHEN,
        },
        ("mental_model_id",),
    ),
    Tool(
        "delete_mental_model",
        "Deletes a mental model with its history.",
        Effect.DESTROYS,
        asking("DELETE", _MODEL),
        _ID,
        ("mental_model_id",),
    ),
    Tool(
        "refresh_mental_model",
        "Has a mental model written anew from what is known now.",
        Effect.ADDS,
        asking("POST", f"{_MODEL}/refresh"),
        _ID,
        ("mental_model_id",),
    ),
    Tool(
        "clear_mental_model",
        "Takes a mental model's text away; the next refresh writes another.",
        Effect.DESTROYS,
        asking("POST", f"{_MODEL}/clear"),
        _ID,
        ("mental_model_id",),
    ),
    Tool(
        "list_directives",
        "Lists directives: the rules that bind every answer of the bank, most important first.",
        Effect.READS,
        asking("GET", f"{BANK}/directives", query=same("tags active_only limit offset")),
        {
            "tags": maybe(strings(), "Those with one of these labels, and those without any."),
            "active_only": flag(True, "Whether to leave out those that are switched off."),
            "limit": most(100, least=1, most=1000),
            "offset": SKIPPED,
        },
    ),
    Tool(
        "create_directive",
        "Gives the bank a rule for its answers.",
        Effect.ADDS,
        asking("POST", f"{BANK}/directives", body=same("name content priority is_active tags")),
        {
            "name": text("What people call it."),
            "content": text("The rule, as you would say it to a colleague."),
            "priority": number(0, "The higher, the sooner it is read."),
            "is_active": flag(True, "Whether it binds answers now."),
            "tags": maybe(strings(), "Labels: it then binds only answers about these."),
        },
        ("name", "content"),
    ),
    Tool(
        "delete_directive",
        "Takes a rule away.",
        Effect.DESTROYS,
        asking("DELETE", f"{BANK}/directives/{{directive_id}}"),
        {"directive_id": text("The id of the directive.")},
        ("directive_id",),
    ),
)
