"""Tools for the knowledge base: pages that are kept up to date, in folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_aws.api.mcp.arguments import maybe, number, strings, text
from hindsight_aws.api.mcp.catalogue.trigger import TRIGGER, with_trigger
from hindsight_aws.api.mcp.tool import BANK, Arguments, Effect, RouteCall, Tool, asking, at, same
from hindsight_aws.ports.model_gateway import JsonObject

_BASE: Final = f"{BANK}/knowledge-base"
_NODE: Final = f"{_BASE}/nodes/{{node_id}}"
_NODE_ID: Final[dict[str, JsonObject]] = {"node_id": text("The id of the page or folder.")}
_WRITTEN: Final = ("source_query", "tags", "max_tokens")
_PAGE: Final[dict[str, JsonObject]] = {
    "tags": maybe(strings(), "Its labels, which also select the memories it is written from."),
    "max_tokens": maybe("integer", "How long its text may be."),
    "trigger": TRIGGER,
    "refresh_after_consolidation": maybe("boolean", "Whether new memories have it written anew; pages usually are."),
}


def _create_page(given: Arguments) -> Sequence[RouteCall]:
    body: JsonObject = {name: given[name] for name in ("name", "parent_id", *_WRITTEN) if name in given}
    return [RouteCall("POST", at(f"{_BASE}/pages", given), body=with_trigger(body, given))]


def _update(given: Arguments) -> Sequence[RouteCall]:
    body: JsonObject = {name: given[name] for name in ("name", *_WRITTEN) if name in given}
    if "parent_id" in given:
        body["parent_id"] = given["parent_id"] or None
    return [RouteCall("PATCH", at(_NODE, given), body=with_trigger(body, given))]


TOOLS: Final = (
    Tool(
        "get_knowledge_base_tree",
        "Shows the folders and pages of the knowledge base, without the pages' texts.",
        Effect.READS,
        asking("GET", f"{_BASE}/tree"),
    ),
    Tool(
        "search_knowledge_base",
        "Finds pages of the knowledge base by words and by meaning.",
        Effect.READS,
        asking("GET", f"{_BASE}/search", query={"q": "query", "limit": "limit"}),
        {"query": text("What to look for."), "limit": number(10, "How many pages at most, up to 50.")},
        ("query",),
    ),
    Tool(
        "get_knowledge_page",
        "Reads a page of the knowledge base, plain and as Markdown.",
        Effect.READS,
        asking("GET", f"{_BASE}/pages/{{page_id}}"),
        {"page_id": text("The id of the page.")},
        ("page_id",),
    ),
    Tool(
        "create_knowledge_folder",
        "Makes an empty folder in the knowledge base.",
        Effect.ADDS,
        asking("POST", f"{_BASE}/folders", body=same("name parent_id")),
        {"name": text("Its name."), "parent_id": maybe("string", "The folder it lies in; at the root if left out.")},
        ("name",),
    ),
    Tool(
        "create_knowledge_page",
        "Makes a page that keeps the answer to a question; its text is written behind the scenes.",
        Effect.ADDS,
        _create_page,
        {
            "name": text("Its title, which no other page of the folder has."),
            "source_query": text("The question that it answers."),
            "parent_id": maybe("string", "The folder it lies in; at the root if left out."),
            **_PAGE,
        },
        ("name", "source_query"),
    ),
    Tool(
        "update_knowledge_node",
        "Renames or moves a page or a folder, or changes what a page is written from; what is left out stays.",
        Effect.SETS,
        _update,
        {
            **_NODE_ID,
            "name": maybe("string", "Its name."),
            "parent_id": maybe("string", "The folder to move it to; an empty text moves it to the root."),
            "source_query": maybe("string", "The question that a page answers; a new one has it written anew."),
            **_PAGE,
        },
        ("node_id",),
    ),
    Tool(
        "delete_knowledge_node",
        "Deletes a page with its history, or a folder with all that is in it.",
        Effect.DESTROYS,
        asking("DELETE", _NODE),
        _NODE_ID,
        ("node_id",),
    ),
)
