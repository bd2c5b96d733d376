"""Tools to look at single memories and to correct them by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_aws.api.mcp.arguments import choice, flag, maybe, strings, text
from hindsight_aws.api.mcp.catalogue.answers import TAGS_MATCH
from hindsight_aws.api.mcp.catalogue.banks import SKIPPED, most
from hindsight_aws.api.mcp.tool import BANK, Arguments, Effect, RouteCall, Tool, asking, at, same
from hindsight_aws.ports.model_gateway import JsonObject

_MEMORY: Final = f"{BANK}/memories/{{memory_id}}"
_ID: Final[dict[str, JsonObject]] = {"memory_id": text("The id of the memory.")}
_DATE: Final = "ISO 8601; an empty text takes it away."


def _invalidate(given: Arguments) -> Sequence[RouteCall]:
    body: JsonObject = {"state": "valid" if given["restore"] else "invalidated"}
    if "reason" in given:
        body["reason"] = given["reason"]
    return [RouteCall("PATCH", at(_MEMORY, given), body=body)]


TOOLS: Final = (
    Tool(
        "list_memories",
        "Lists memories, those mentioned last first. To find what bears on a question, use recall.",
        Effect.READS,
        asking("GET", f"{BANK}/memories/list", query=same("type q limit offset tags tags_match")),
        {
            "type": maybe("string", "Only `world`, `experience` or `observation`."),
            "q": maybe("string", "Words that the text must hold."),
            "limit": most(100),
            "offset": SKIPPED,
            "tags": maybe(strings(), "Only memories with these labels; see `tags_match`."),
            "tags_match": choice(TAGS_MATCH, "any", "How `tags` select."),
        },
    ),
    Tool(
        "get_memory",
        "Shows a memory: an observation with its evidence, a fact with what became of it.",
        Effect.READS,
        asking("GET", _MEMORY),
        _ID,
        ("memory_id",),
    ),
    Tool(
        "update_memory",
        "Corrects a fact; what is left out stays. Observations that rest on it are made anew.",
        Effect.SETS,
        asking(
            "PATCH",
            _MEMORY,
            body=same("text context occurred_start occurred_end mentioned_at fact_type entities resolve_entities"),
        ),
        {
            **_ID,
            "text": maybe("string", "What it says."),
            "context": maybe("string", "What it belongs to; an empty text takes it away."),
            "occurred_start": maybe("string", f"When it began. {_DATE}"),
            "occurred_end": maybe("string", f"When it ended. {_DATE}"),
            "mentioned_at": maybe("string", f"When it was said. {_DATE}"),
            "fact_type": maybe("string", "`world` or `experience`."),
            "entities": maybe(strings(), "Whom and what it is about; instead of those that it has."),
            "resolve_entities": flag(True, "Whether names are matched with those that are known."),
        },
        ("memory_id",),
    ),
    Tool(
        "invalidate_memory",
        "Takes a fact that is wrong out of use, or with `restore` puts it back. Nothing is lost by it.",
        Effect.DESTROYS,
        _invalidate,
        {
            **_ID,
            "reason": maybe("string", "Why."),
            "restore": flag(False, "Whether to put it back instead."),
        },
        ("memory_id",),
    ),
    Tool(
        "clear_memories",
        "Deletes all memories of a bank, or all of one type, for good; its settings and documents stay.",
        Effect.DESTROYS,
        asking("DELETE", f"{BANK}/memories", query=same("type")),
        {"type": maybe("string", "Only `world`, `experience` or `observation`.")},
    ),
)
