"""The tools that an agent lives by: retain, recall, reflect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_aws.api.mcp.arguments import anything, choice, flag, maybe, number, strings, text
from hindsight_aws.api.mcp.tool import BANK, Arguments, Ask, Effect, RouteCall, Tool, at
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

TAGS_MATCH: Final = "any all any_strict all_strict exact"
_KINDS: Final = ("world", "experience", "opinion", "observation", "mental-models", "directives")
_ITEM: Final = ("content", "context", "timestamp", "tags", "metadata", "document_id", "strategy", "update_mode")
_TAGS_MATCH: Final = choice(
    TAGS_MATCH, "any", "How `tags` select: `any` and `all` take untagged memories too, the others do not."
)
_TO_KEEP: Final[dict[str, JsonObject]] = {
    "content": text("What to remember, in plain words."),
    "context": text("What kind of text it is, or where it comes from.", "general"),
    "timestamp": maybe("string", "When it was said or happened, ISO 8601; now if left out."),
    "tags": maybe(strings(), "Labels by which it can be found, shared or kept apart."),
    "metadata": maybe({"type": "object", "additionalProperties": {"type": "string"}}, "Facts about the text itself."),
    "document_id": maybe("string", "Id of the text; the same id again replaces it."),
    "strategy": maybe("string", "Name of one of the bank's ways to read a text."),
}


def _retaining(*, is_async: bool) -> Ask:
    def ask(given: Arguments) -> Sequence[RouteCall]:
        item: JsonObject = {name: given[name] for name in _ITEM if name in given}
        return [RouteCall("POST", at(f"{BANK}/memories", given), body={"items": [item], "async": is_async})]

    return ask


def _recall(given: Arguments) -> Sequence[RouteCall]:
    include: JsonObject = {"entities": None}
    if given["include_entities"]:
        include["entities"] = {"max_tokens": given["max_entity_tokens"]}
    if given["include_chunks"]:
        include["chunks"] = {"max_tokens": given["max_chunk_tokens"]}
    if given["include_source_facts"]:
        include["source_facts"] = {"max_tokens": given["max_source_facts_tokens"]}
    names = "query max_tokens budget types prefer_observations tags tags_match tag_groups query_timestamp min_scores"
    body = {name: given[name] for name in (*names.split(), "temporal_window") if name in given}
    return [RouteCall("POST", at(f"{BANK}/memories/recall", given), body={**body, "include": include})]


def _reflect(given: Arguments) -> Sequence[RouteCall]:
    include: JsonObject = {}
    if given["include_based_on"]:
        include["facts"] = {}
    if given["include_trace"]:
        include["tool_calls"] = {}
    names = "query context budget max_tokens response_schema tags tags_match apply_all_directives"
    body = {name: given[name] for name in names.split() if name in given}
    return [RouteCall("POST", at(f"{BANK}/reflect", given), body={**body, "include": include})]


def _accepted(answers: Sequence[JsonObject]) -> JsonObject:
    """What a write tells: that it is kept, and what came of it or how to ask about it."""
    (answer,) = answers
    if answer["async"]:
        told = "Accepted: the memories are there as soon as the operation has completed."
        return {"status": "accepted", "message": told, "operation_id": answer["operation_id"]}
    items = answer.get("items")
    entries = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    ids: list[JsonValue] = [one for item in entries for one in _listed(item.get("memory_ids"))]
    told = f"Stored {len(ids)} {'memory' if len(ids) == 1 else 'memories'}."
    return {"status": "completed", "message": told, "memory_ids": ids}


def _recalled(answers: Sequence[JsonObject]) -> JsonObject:
    (answer,) = answers
    found, sources = answer.get("results"), answer.get("source_facts")
    told: JsonObject = dict(answer)
    if isinstance(found, list):
        told["results"] = [_named(entry) for entry in found]
    if isinstance(sources, dict):
        told["source_facts"] = {name: _named(entry) for name, entry in sources.items()}
    return told


def _named(entry: JsonValue) -> JsonValue:
    """A memory whose type is called `fact_type`, as everywhere among the tools."""
    if not isinstance(entry, dict):
        return entry
    return {("fact_type" if name == "type" else name): value for name, value in entry.items()}


def _reflected(answers: Sequence[JsonObject]) -> JsonObject:
    (answer,) = answers
    based_on = answer.get("based_on")
    if not isinstance(based_on, dict):
        return answer
    grouped: dict[str, list[JsonValue]] = {kind: [] for kind in _KINDS}
    for memory in _listed(based_on.get("memories")):
        kind = memory.get("type") if isinstance(memory, dict) else None
        grouped.setdefault(str(kind), []).append(memory)
    grouped["mental-models"] = _listed(based_on.get("mental_models"))
    grouped["directives"] = _listed(based_on.get("directives"))
    return {**answer, "based_on": dict(grouped.items())}


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


TOOLS: Final = (
    Tool(
        "retain",
        "Remembers a text: its facts are drawn out and stored while you go on. Answers at once with an operation.",
        Effect.ADDS,
        _retaining(is_async=True),
        {**_TO_KEEP, "update_mode": maybe("string", "`replace` or `append`, for a document that is there already.")},
        ("content",),
        _accepted,
        says_status=True,
    ),
    Tool(
        "sync_retain",
        "Remembers a text and waits until its facts can be recalled. Slower than retain: use it when the next step "
        "depends on the memory.",
        Effect.ADDS,
        _retaining(is_async=False),
        _TO_KEEP,
        ("content",),
        _accepted,
        says_status=True,
    ),
    Tool(
        "recall",
        "Finds what the memory holds on a question: facts and observations, best first. Fast, and without a model.",
        Effect.READS,
        _recall,
        {
            "query": text("The question, in plain words."),
            "max_tokens": number(4096, "How much text the results may come to."),
            "budget": text("How hard to look: `low`, `mid` or `high`.", "high"),
            "types": maybe(strings(), "Kinds of memory: `world`, `experience`, `observation`; all if left out."),
            "prefer_observations": maybe("boolean", "Whether observations stand in for the facts beneath them."),
            "tags": maybe(strings(), "Only memories with these labels; see `tags_match`."),
            "tags_match": _TAGS_MATCH,
            "tag_groups": maybe({"type": "array", "items": anything()}, "Labels with and, or, not; instead of `tags`."),
            "query_timestamp": maybe("string", "The moment from which times in the question count, ISO 8601."),
            "min_scores": maybe(anything(), "Least scores: `semantic`, `keyword`, `reranker`, `final`."),
            "temporal_window": maybe(anything(), "`start` and `end` of the time that is asked about."),
            "include_chunks": flag(False, "Whether passages come along from which the results were drawn."),
            "max_chunk_tokens": number(8192),
            "include_entities": flag(False, "Whether each result names whom and what it is about."),
            "max_entity_tokens": number(500),
            "include_source_facts": flag(False, "Whether the facts come along that observations rest on."),
            "max_source_facts_tokens": number(4096),
        },
        ("query",),
        _recalled,
    ),
    Tool(
        "reflect",
        "Thinks a question over with the memory at hand and answers in words. Takes seconds; an error that names an "
        "operation means that it goes on: call again with the same arguments.",
        Effect.READS,
        _reflect,
        {
            "query": text("The question, in plain words."),
            "context": maybe("string", "What else there is to know about the question."),
            "budget": text("How long to think: `low`, `mid` or `high`.", "low"),
            "max_tokens": number(4096, "How long the answer may be."),
            "response_schema": maybe(anything(), "JSON Schema of an answer as data, which comes besides the words."),
            "tags": maybe(strings(), "Only memories with these labels; see `tags_match`."),
            "tags_match": _TAGS_MATCH,
            "apply_all_directives": flag(False, "Whether directives bind the answer whatever their labels."),
            "include_based_on": flag(False, "Whether the memories come along that the answer rests on."),
            "include_trace": flag(False, "Whether the steps of thought come along."),
        },
        ("query",),
        _reflected,
    ),
)
