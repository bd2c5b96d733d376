"""The tools `search_observations` and `recall`: what a bank remembers, as JSON with real ids.

Called by toolbox.py; calls recall through `Searches`.
"""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_aws.access import OBSERVATIONS, RAW_TYPES
from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import Freshness, RecallAnswer, RecalledUnit
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.ports import SearchRequest
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.reflect.tools.lookup import ToolContext, record_of

OBSERVATION_TOKENS = 5_000
_STALE_FROM = 10
_LEVELS = ("up_to_date", "slightly_stale", "stale", "incomplete")


def search_observations(context: ToolContext, said: JsonObject) -> JsonObject:
    """`{query, observations, source_facts?, is_stale, freshness, withheld?}`; how fresh only where something is found.

    Raises: WrongArgument, and what a search raises.
    """
    request = context.job.request
    budget = calls.tokens(said, "max_tokens", _observation_tokens(request, context.config), context.room)
    answer = _search(context, said, OBSERVATIONS, budget, source_tokens=_source_tokens(context.config))
    named = _with_entities(request, context.config)
    found: list[JsonValue] = [_observation(answer, ranked.unit, with_entities=named) for ranked in answer.results]
    result: JsonObject = {"query": calls.query(said), "observations": found}
    if answer.sources is not None and answer.sources.facts:
        result["source_facts"] = [record_of(fact, ()) for fact in answer.sources.facts]
    if answer.fresh_of:
        result["freshness"] = worst(answer.fresh_of.values())
        result["is_stale"] = any(fresh.is_stale for fresh in answer.fresh_of.values())
    return result if answer.withheld is None else {**result, "withheld": answer.withheld}


def recall(context: ToolContext, said: JsonObject) -> JsonObject:
    """`{query, memories, chunks?}`; each chunk names the memories drawn from it.

    Raises: WrongArgument, and what a search raises.
    """
    request, config = context.job.request, context.config
    usual = config.recall_max_tokens if request.recall_tokens is None else request.recall_tokens
    budget = calls.tokens(said, "max_tokens", usual, context.room)
    answer = _search(context, said, RAW_TYPES, budget, chunk_tokens=_chunk_tokens(context, said))
    units = [ranked.unit for ranked in answer.results]
    memories: list[JsonValue] = [{**record_of(unit, _names(answer, unit.id)), "type": unit.fact_type} for unit in units]
    chunks = _chunks(context, answer, units)
    return {"query": calls.query(said), "memories": memories, **({"chunks": chunks} if chunks else {})}


def level(pending: int, failed: int) -> str:
    """In a word, how far a scope is behind in which so many facts wait and so many were given up."""
    if failed:
        return "incomplete"
    if pending == 0:
        return "up_to_date"
    return "slightly_stale" if pending < _STALE_FROM else "stale"


def worst(found: Iterable[Freshness]) -> str:
    """How far behind the scopes are that these observations belong to: as the one that is furthest."""
    return max((level(fresh.pending, fresh.failed) for fresh in found), key=_LEVELS.index, default=_LEVELS[0])


def _search(
    context: ToolContext,
    said: JsonObject,
    layer: frozenset[str],
    max_tokens: int,
    *,
    chunk_tokens: int | None = None,
    source_tokens: int | None = None,
) -> RecallAnswer:
    request = context.job.request
    wanted = layer if request.fact_types is None else layer & request.fact_types
    query = calls.query(said)
    asked = SearchRequest(
        query,
        wanted,
        request.tags,
        max_tokens,
        chunk_tokens,
        source_tokens,
        context.times,
        request.asked_at,
        context.vector_of(query),
    )
    return context.ports.searches.search(context.job.principal, context.job.bank, asked)


def _observation(answer: RecallAnswer, unit: RecalledUnit, *, with_entities: bool) -> JsonObject:
    """An observation, and how far its own scope is behind."""
    known = {**record_of(unit, _names(answer, unit.id) if with_entities else ()), "proof_count": unit.proof_count}
    fresh = answer.fresh_of.get(unit.id)
    if fresh is not None and fresh.is_stale:
        known["freshness"] = level(fresh.pending, fresh.failed)
        known["facts_not_in_it_yet"] = fresh.pending + fresh.failed
    if fresh is not None and fresh.failed:
        known["facts_given_up"] = fresh.failed
    if answer.sources is not None:
        shown = {fact.id for fact in answer.sources.facts}
        rests_on: list[JsonValue] = [str(one) for one in answer.sources.ids_of.get(unit.id, ()) if one in shown]
        return {**known, "rests_on": rests_on} if rests_on else known
    return known


def _chunks(context: ToolContext, answer: RecallAnswer, units: Iterable[RecalledUnit]) -> list[JsonValue]:
    """The chunks, without those that say what a fact drawn from them says already."""
    drawn: dict[str, list[JsonValue]] = {}
    said: set[tuple[str, str]] = set()
    for unit in units:
        if unit.document is not None and unit.chunk_index is not None:
            name = chunk_id(context.job.bank, unit.document, unit.chunk_index)
            drawn.setdefault(name, []).append(str(unit.id))
            said.add((name, unit.text))
    told: list[JsonValue] = []
    for chunk in answer.chunks or ():
        if (chunk.chunk_id, chunk.text) in said:
            continue
        record: JsonObject = {"id": chunk.chunk_id, "text": chunk.text, "of": drawn.get(chunk.chunk_id, [])}
        told.append({**record, "truncated": True} if chunk.is_truncated else record)
    return told


def _chunk_tokens(context: ToolContext, said: JsonObject) -> int | None:
    """Chunks as asked for, if bank and request want any."""
    request, config = context.job.request, context.config
    wanted = config.recall_include_chunks if request.with_chunks is None else request.with_chunks
    if not wanted:
        return None
    usual = config.recall_chunks_max_tokens if request.chunk_tokens is None else request.chunk_tokens
    return calls.tokens(said, "max_chunk_tokens", usual, context.room)


def _source_tokens(config: BankConfig) -> int | None:
    """The bank's budget of source facts, in recall's words: there -1 is without limit, here 0 is and -1 is none."""
    budget = config.reflect_source_facts_max_tokens
    return None if budget < 0 else budget or -1


def _names(answer: RecallAnswer, unit_id: UnitId) -> tuple[str, ...]:
    return tuple(entity.name for entity in (answer.entities_of or {}).get(unit_id, ()))


def _observation_tokens(request: ReflectRequest, config: BankConfig) -> int:
    """What was asked for, else the bank's own wish, else the default; only null means unset."""
    if request.observations_max_tokens is not None:
        return request.observations_max_tokens
    own = (config.reflect_default_options or {}).get("reflect_search_observations_max_tokens")
    return own if isinstance(own, int) else OBSERVATION_TOKENS


def _with_entities(request: ReflectRequest, config: BankConfig) -> bool:
    if request.observations_with_entities is not None:
        return request.observations_with_entities
    return (config.reflect_default_options or {}).get("reflect_search_observations_include_entities") is not False
