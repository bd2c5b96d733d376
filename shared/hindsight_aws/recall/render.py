"""A recall's answer as the JSON bytes of the wire.  Called by the API's route, which sends them as they are.

Written out by hand: a general encoder costs more CPU for a hundred results than finding them.  Every key is always
there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from json.encoder import encode_basestring as quoted

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import NamedEntity, RecallAnswer, RecalledChunk, RecalledUnit, Scores


def render(answer: RecallAnswer) -> bytes:
    """The body of the answer.

    `withheld` is there only for a caller whose key hides something, `stale` and `evidence` on observations alone.
    """
    sources = answer.sources
    ids_of = {} if sources is None else sources.ids_of
    results = ",".join(
        _unit(
            result.unit,
            answer.bank,
            answer.entities_of,
            ids_of.get(result.unit.id),
            result.scores,
            _of_observation(answer, result.unit.id),
        )
        for result in answer.results
    )
    facts = (
        None
        if sources is None
        else (f"{quoted(str(f.id))}:{_unit(f, answer.bank, None, None, None)}" for f in sources.facts)
    )
    body = (
        f'{{"results":[{results}],"trace":{_trace(answer.trace)},"entities":{_entities(answer)},'
        f'"chunks":{_chunks(answer.chunks)},"source_facts":{_object(facts)},'
        f'"source_facts_truncated":{"null" if sources is None else _boolean(sources.is_truncated)}'
    )
    withheld = "" if answer.withheld is None else f',"withheld":{answer.withheld}'
    return f"{body}{withheld}}}".encode()


def _unit(
    unit: RecalledUnit,
    bank: str,
    entities_of: Mapping[UnitId, tuple[NamedEntity, ...]] | None,
    source_ids: tuple[UnitId, ...] | None,
    scores: Scores | None,
    more: str = "",
) -> str:
    chunk = None
    if unit.document is not None and unit.chunk_index is not None:
        chunk = chunk_id(bank, unit.document, unit.chunk_index)
    entities = entities_of.get(unit.id) if entities_of else None
    names = _strings(entity.name for entity in entities) if entities else "null"
    sources = "null" if source_ids is None else _strings(map(str, source_ids))
    return (
        f'{{"id":"{unit.id}","text":{quoted(unit.text)},"type":"{unit.fact_type}","entities":{names},'
        f'"context":{_string(unit.context)},"occurred_start":{_instant(unit.occurred_start)},'
        f'"occurred_end":{_instant(unit.occurred_end)},"mentioned_at":{_instant(unit.mentioned_at)},'
        f'"document_id":{_string(unit.document)},"metadata":{_metadata(unit.metadata)},"chunk_id":{_string(chunk)},'
        f'"tags":{_strings(unit.tags)},"source_fact_ids":{sources},"scores":{_scores(scores)},"attachments":null{more}}}'
    )


def _of_observation(answer: RecallAnswer, unit_id: UnitId) -> str:
    """What an observation has besides: whether it is stale and, when asked for and allowed, its evidence."""
    fresh = answer.fresh_of.get(unit_id)
    if fresh is None:
        return ""
    stale = f',"stale":{_boolean(fresh.is_stale)}'
    if answer.quotes_of is None:
        return stale
    quotes = ",".join(
        f'{{"fact_id":"{quote.fact_id}","quote":{quoted(quote.text)},"origin":"{quote.origin}"}}'
        for quote in answer.quotes_of.get(unit_id, ())
    )
    return f'{stale},"evidence":[{quotes}]'


def _scores(scores: Scores | None) -> str:
    if scores is None:
        return "null"
    return (
        f'{{"final":{scores.final!r},"reranker":{_number(scores.reranker)},"semantic":{_number(scores.semantic)},'
        f'"keyword":{_number(scores.keyword)}}}'
    )


def _entities(answer: RecallAnswer) -> str:
    """Every entity of the results by name, in order of appearance; null when there is none."""
    found: dict[str, str] = {}
    for result in answer.results:
        for entity in (answer.entities_of or {}).get(result.unit.id, ()):
            found.setdefault(entity.name, str(entity.entity_id))
    return (
        _object(
            f'{quoted(name)}:{{"entity_id":"{entity_id}","canonical_name":{quoted(name)},"observations":[]}}'
            for name, entity_id in found.items()
        )
        if found
        else "null"
    )


def _chunks(chunks: Iterable[RecalledChunk] | None) -> str:
    if chunks is None:
        return "null"
    return _object(
        f'{quoted(chunk.chunk_id)}:{{"id":{quoted(chunk.chunk_id)},"text":{quoted(chunk.text)},'
        f'"chunk_index":{chunk.chunk_index},"truncated":{_boolean(chunk.is_truncated)},"attachments":null}}'
        for chunk in chunks
    )


def _metadata(metadata: Mapping[str, object]) -> str:
    """The metadata as text to text: other values are written out, nulls left out."""
    return _object(
        f"{quoted(key)}:{quoted(value if isinstance(value, str) else json.dumps(value))}"
        for key, value in metadata.items()
        if value is not None
    )


def _trace(trace: Mapping[str, object] | None) -> str:
    return "null" if trace is None else json.dumps(trace, ensure_ascii=False, separators=(",", ":"))


def _object(members: Iterable[str] | None) -> str:
    return "null" if members is None else f"{{{','.join(members)}}}"


def _strings(values: Iterable[str]) -> str:
    return f"[{','.join(map(quoted, values))}]"


def _string(value: str | None) -> str:
    return "null" if value is None else quoted(value)


def _instant(value: datetime | None) -> str:
    return "null" if value is None else f'"{(value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat()}"'


def _number(value: float | None) -> str:
    return "null" if value is None else repr(value)


def _boolean(value: bool) -> str:
    return "true" if value else "false"
