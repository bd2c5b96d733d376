"""Runs one search tool for a run and gives its answer as JSON with real ids; transcript.py gives them aliases later.

Called by the step `run_tool`; calls recall through `Searches`, and the store for what lies beneath a fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_aws.access import OBSERVATIONS, RAW_TYPES, document_tags, sees_documents, sight
from hindsight_aws.banks.config import BankConfig
from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.recalled import Freshness, RecallAnswer, RecalledUnit
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Opened
from hindsight_aws.reflect import calls
from hindsight_aws.reflect.ports import ReflectPorts, SearchRequest
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest

OBSERVATION_TOKENS = 5_000
LAYERS = (calls.SEARCH_OBSERVATIONS, calls.RECALL)
_STALE_FROM = 10
_CONTEXT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is run with: for whom, on which bank, and by its settings."""

    ports: ReflectPorts
    job: ReflectJob
    bank_id: BankId
    config: BankConfig


def enabled(job: ReflectJob, config: BankConfig) -> tuple[str, ...]:
    """The tools this caller's question may use, in the order of a first look.

    A caller limited to exact scopes gets observations and nothing that lies beneath them.
    """
    seen = sight(job.principal, job.request.fact_types, job.request.tags)
    tools = []
    if seen.fact_types & OBSERVATIONS:
        tools.append(calls.SEARCH_OBSERVATIONS)
    if seen.fact_types & RAW_TYPES:
        tools.append(calls.RECALL)
        if seen.sees_beneath and sees_documents(job.principal) and config.store_document_text:
            tools.append(calls.EXPAND)
    return tuple(tools)


def searched_types(job: ReflectJob) -> frozenset[str]:
    """The types of memory that this caller's question may be answered from."""
    return sight(job.principal, job.request.fact_types, job.request.tags).fact_types


def run(context: ToolContext, name: str, said: JsonObject, ids: Mapping[str, UnitId]) -> JsonObject:
    """The tool's answer; `ids` are the run's aliases.

    Raises: WrongArgument for arguments that were not checked, ValueError for an unknown tool, and whatever a failed
    search raises: a failure is never told to the model as an answer.
    """
    if name == calls.SEARCH_OBSERVATIONS:
        return _observations(context, said)
    if name == calls.RECALL:
        return _memories(context, said)
    if name == calls.EXPAND:
        return _expanded(context, said, ids)
    raise ValueError(f"there is no tool {name!r}")


def _observations(context: ToolContext, said: JsonObject) -> JsonObject:
    request = context.job.request
    budget = calls.tokens(said, "max_tokens", _observation_tokens(request, context.config))
    answer = _search(context, calls.query(said), OBSERVATIONS, budget)
    found = [ranked.unit for ranked in answer.results]
    fresh = answer.fresh_of
    named = _with_entities(request, context.config)
    records: list[JsonValue] = [
        _record(unit, _names(answer, unit) if named else ()) | _state_of(unit, fresh.get(unit.id)) for unit in found
    ]
    behind = max((one.pending + one.failed for one in fresh.values()), default=0)
    result: JsonObject = {"query": calls.query(said), "observations": records, "freshness": level(behind)}
    return result if answer.withheld is None else {**result, "withheld": answer.withheld}


def _memories(context: ToolContext, said: JsonObject) -> JsonObject:
    budget = calls.tokens(said, "max_tokens", context.config.recall_max_tokens)
    answer = _search(context, calls.query(said), RAW_TYPES, budget)
    records: list[JsonValue] = [
        {**_record(ranked.unit, _names(answer, ranked.unit)), "type": ranked.unit.fact_type}
        for ranked in answer.results
    ]
    return {"query": calls.query(said), "memories": records}


def _expanded(context: ToolContext, said: JsonObject, ids: Mapping[str, UnitId]) -> JsonObject:
    wanted = calls.texts(said, "memory_ids")
    known = {alias: ids[alias] for alias in wanted if alias in ids}
    whole = calls.depth(said) == "document"
    with context.ports.store.transaction(context.job.principal.tenant_id) as tx:
        opened = {one.id: one for one in tx.reflect.open(context.bank_id, list(known.values()), whole_document=whole)}
    results: list[JsonValue] = []
    for alias in wanted:
        one = opened.get(known[alias]) if alias in known else None
        if one is None or not _sees(context, one):
            results.append({"id": str(known.get(alias, alias)), "error": "There is no such fact here."})
        else:
            results.append({"id": str(one.id), **_beneath(context, one)})
    return {"results": results}


def _beneath(context: ToolContext, one: Opened) -> JsonObject:
    visible = document_tags(context.job.principal, context.job.request.tags)
    if one.document_id is not None and not visible.matches(one.document_tags):
        return {"source_withheld": True}
    text = one.document if one.document is not None else one.chunk
    if not text:
        return {"error": "The source of this fact was not kept."}
    return {"document": text} if one.document is not None else {"chunk": text}


def _sees(context: ToolContext, one: Opened) -> bool:
    request = context.job.request
    return sight(context.job.principal, request.fact_types, request.tags).sees(one.fact_type, one.tags)


def _search(context: ToolContext, query: str, layer: frozenset[str], max_tokens: int) -> RecallAnswer:
    request = context.job.request
    wanted = layer if request.fact_types is None else layer & request.fact_types
    asked = SearchRequest(query, wanted, request.tags, max_tokens)
    return context.ports.searches.search(context.job.principal, context.job.bank, asked)


def _record(unit: RecalledUnit, entities: Sequence[str]) -> JsonObject:
    """A memory as a model should read it: no scores, no nulls, minutes at most, an end only where it differs."""
    end = unit.occurred_end if unit.occurred_end != unit.occurred_start else None
    record: JsonObject = {
        "id": str(unit.id),
        "text": unit.text,
        "context": unit.context[:_CONTEXT_CHARACTERS] if unit.context else None,
        "occurred_start": _minute(unit.occurred_start),
        "occurred_end": _minute(end),
        "mentioned_at": _minute(unit.mentioned_at),
        "tags": list(unit.tags),
        "metadata": dict[str, JsonValue](unit.metadata),
        "entities": list(entities),
    }
    return {name: value for name, value in record.items() if value}


def _state_of(unit: RecalledUnit, fresh: Freshness | None) -> JsonObject:
    known: JsonObject = {"proof_count": unit.proof_count}
    if fresh is not None and fresh.is_stale:
        known["facts_not_in_it_yet"] = fresh.pending + fresh.failed
    if fresh is not None and fresh.failed:
        known["facts_given_up"] = fresh.failed
    return known


def level(behind: int) -> str:
    """In a word, how far a scope with so many facts that it does not know is behind."""
    if behind == 0:
        return "up_to_date"
    return "slightly_stale" if behind < _STALE_FROM else "stale"


def _names(answer: RecallAnswer, unit: RecalledUnit) -> tuple[str, ...]:
    return tuple(entity.name for entity in (answer.entities_of or {}).get(unit.id, ()))


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


def _minute(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="minutes")
