"""A recall's answer as the JSON bytes of the wire.  Called by the API's route, which sends them as they are.

Written out by hand: a general encoder costs more CPU for a hundred results than finding them.  Every key is always
there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from json.encoder import encode_basestring as quoted

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import (
    Believed,
    NamedEntity,
    RankedUnit,
    RecallAnswer,
    RecalledChunk,
    RecalledUnit,
    Scores,
)
from hindsight_aws.model.watermark import WriteState
from hindsight_aws.recall.together import AnswerTogether


def render(answer: RecallAnswer) -> bytes:
    """The body of the answer.

    `withheld` is there only for a caller whose key hides something, `stale` and `evidence` on observations alone, and
    `cut_arms`, `after` and `as_of` only where the question had `deadline_ms`, `after` and `as_of`.
    """
    results = ",".join(_result(result, answer) for result in answer.results)
    sources = answer.sources
    body = (
        f'{{"results":[{results}],"trace":{_trace(answer.trace)},"entities":{_entities(answer)},'
        f'"chunks":{_chunks(answer.chunks)},"source_facts":{_facts([answer])},'
        f'"source_facts_truncated":{"null" if sources is None else _boolean(sources.is_truncated)}'
    )
    withheld = "" if answer.withheld is None else f',"withheld":{answer.withheld}'
    return f"{body}{withheld}{_told(answer.cut, answer.written, answer.believed)}}}".encode()


def render_together(answer: AnswerTogether) -> bytes:
    """The body of an answer from several banks: as `render`, with `bank_id` on each result.

    `entities` and `trace` are by bank: a name means another entity in each.
    """
    each = answer.by_bank
    results = ",".join(
        _result(result, each[bank := answer.bank_of[result.unit.id]], f',"bank_id":{quoted(bank)}')
        for result in answer.results
    )
    shares = list(each.values())
    given = [share.chunks for share in shares if share.chunks is not None]
    chunks = [chunk for of_bank in given for chunk in of_bank] if given else None
    truncated = [share.sources.is_truncated for share in shares if share.sources is not None]
    hidden = [share.withheld for share in shares if share.withheld is not None]
    body = (
        f'{{"results":[{results}],"trace":{_by_bank(each, lambda of: _trace(of.trace))},'
        f'"entities":{_by_bank(each, _entities)},"chunks":{_chunks(chunks)},'
        f'"source_facts":{_facts(shares)},"source_facts_truncated":{_boolean(any(truncated)) if truncated else "null"}'
    )
    withheld = f',"withheld":{sum(hidden)}' if hidden else ""
    return f"{body}{withheld}{_told(answer.cut, None, answer.believed)}}}".encode()


def _result(result: RankedUnit, answer: RecallAnswer, more: str = "") -> str:
    unit = result.unit
    ids = None if answer.sources is None else answer.sources.ids_of.get(unit.id)
    beside = f"{_of_observation(answer, unit)}{more}"
    return _unit(unit, answer.bank, answer.entities_of, ids, result.scores, beside)


def _facts(shares: Iterable[RecallAnswer]) -> str:
    """The source facts of all the shares by id; null when none has any."""
    given = [share for share in shares if share.sources is not None]
    return (
        _object(
            f"{quoted(str(fact.id))}:{_unit(fact, share.bank, None, None, None)}"
            for share in given
            for fact in (share.sources.facts if share.sources else ())
        )
        if given
        else "null"
    )


def _by_bank(each: Mapping[str, RecallAnswer], part: Callable[[RecallAnswer], str]) -> str:
    """A part of the answer for each bank that has it; null when none has."""
    rendered = {bank: part(share) for bank, share in each.items()}
    members = [f"{quoted(bank)}:{text}" for bank, text in rendered.items() if text != "null"]
    return _object(members) if members else "null"


def _told(cut: tuple[str, ...] | None, written: WriteState | None, believed: Believed | None) -> str:
    """What is said beside what was found, and only to who asked."""
    told = "" if cut is None else f',"cut_arms":{_strings(cut)}'
    if written is not None:
        told += (
            f',"after":{{"visible":{_boolean(written.is_visible)},"consolidated":{_boolean(written.is_consolidated)},'
            f'"failed":{_boolean(written.has_failed)},'
            f'"consolidation_failed":{_boolean(written.has_failed_consolidation)}}}'
        )
    if believed is not None:
        told += f',"as_of":{{"at":{_instant(believed.at)},"complete":{_boolean(believed.is_complete)}}}'
    return told


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
    names = _strings([entity.name for entity in entities]) if entities else "null"
    sources = "null" if source_ids is None else _strings(map(str, source_ids))
    return (
        f'{{"id":"{unit.id}","text":{quoted(unit.text)},"type":"{unit.fact_type}","entities":{names},'
        f'"context":{_string(unit.context)},"occurred_start":{_instant(unit.occurred_start)},'
        f'"occurred_end":{_instant(unit.occurred_end)},"mentioned_at":{_instant(unit.mentioned_at)},'
        f'"document_id":{_string(unit.document)},"metadata":{_metadata(unit.metadata)},"chunk_id":{_string(chunk)},'
        f'"tags":{_strings(unit.tags)},"source_fact_ids":{sources},"scores":{_scores(scores)},"attachments":null{more}}}'
    )


def _of_observation(answer: RecallAnswer, unit: RecalledUnit) -> str:
    """What an observation has besides: whether it is stale and, when asked for and allowed, its evidence.

    Of the past nothing says whether it was stale.
    """
    if unit.fact_type != "observation":
        return ""
    fresh = answer.fresh_of.get(unit.id)
    stale = "" if fresh is None else f',"stale":{_boolean(fresh.is_stale)}'
    if answer.quotes_of is None:
        return stale
    quotes = ",".join(
        f'{{"fact_id":"{quote.fact_id}","quote":{quoted(quote.text)},"origin":"{quote.origin}"}}'
        for quote in answer.quotes_of.get(unit.id, ())
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
    entities_of = answer.entities_of or {}
    for result in answer.results:
        for entity in entities_of.get(result.unit.id, ()):
            if entity.name not in found:  # most names come again and again, and an id takes long to write out
                found[entity.name] = str(entity.entity_id)
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
    if not metadata:
        return "{}"
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
