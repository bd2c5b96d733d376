"""The tool `expand`: the chunk or document a fact was taken from, the facts that an observation rests on.

Called by toolbox.py; reads through ports/evidence.py what the caller may see, and nothing else.
"""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.evidence import FoundMemory, MemoriesQuery, RestingFact, Source
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.conversation.evidence import cut
from hindsight_aws.reflect.tools.lookup import ToolContext, minute, short, without_blanks

_UNKNOWN = "There is no such memory here."
_NONE_KNOWN = "None of these ids is a memory here; use ids as they were shown, like f1."


def expand(context: ToolContext, said: JsonObject) -> JsonObject:
    """`{results}`, one for each id in its order, with an error for each that is not in sight; `error` when none is.

    Raises: WrongArgument.
    """
    wanted = calls.texts(said, "memory_ids")
    source: Source = "document" if calls.depth(said) == "document" else "chunk"
    ids = {name: found for name in wanted if (found := _unit_id(name)) is not None}
    query = MemoriesQuery(
        context.bank_id,
        list(dict.fromkeys(ids.values())),
        context.sight,
        context.documents,
        context.times,
        source,
        with_evidence=True,
    )
    with context.ports.store.transaction(context.job.principal.tenant_id) as tx:
        opened = {one.id: one for one in tx.evidence.memories(query)}
    share = max(1, context.room // max(1, len(opened)))
    results: list[JsonValue] = []
    for name in wanted:
        one = opened.get(ids[name]) if name in ids else None
        beneath = (
            {"error": _UNKNOWN} if one is None else {"memory": _memory(one), **_beneath(context, one, share, source)}
        )
        results.append({"memory_id": name, **beneath})
    return {"results": results} if opened else {"error": _NONE_KNOWN, "results": results}


def _memory(one: FoundMemory) -> JsonObject:
    record: JsonObject = {
        "id": str(one.id),
        "text": one.text,
        "type": one.fact_type,
        "context": short(one.context),
        "mentioned_at": minute(one.mentioned_at),
        "occurred_start": minute(one.occurred_start),
    }
    return without_blanks(record)


def _beneath(context: ToolContext, one: FoundMemory, share: int, source: Source) -> JsonObject:
    """What the memory rests on, its text cut to `share` tokens."""
    if one.fact_type == "observation":
        facts: list[JsonValue] = [_fact(fact) for fact in one.facts]
        return {"evidence": facts, **({"withheld": len(one.hidden)} if one.hidden else {})}
    if one.is_withheld:
        return {"source_withheld": True}
    if not one.source or one.document_id is None:
        return {"error": "The source of this fact was not kept."}
    text = cut(one.source, share)
    truncated: JsonObject = {} if text == one.source else {"truncated": True}
    if source == "document":
        return {"document": {"id": one.document_id, "full_text": text, **truncated}}
    return {
        "chunk": {"id": chunk_id(context.job.bank, one.document_id, one.chunk_index or 0), "text": text, **truncated}
    }


def _fact(fact: RestingFact) -> JsonObject:
    quote = fact.quote if fact.origin == "model" and fact.quote != fact.text else None
    return without_blanks(
        {"id": str(fact.id), "text": fact.text, "mentioned_at": minute(fact.mentioned_at), "quote": quote}
    )


def _unit_id(name: str) -> UnitId | None:
    try:
        return UnitId(UUID(name))
    except ValueError:
        return None
