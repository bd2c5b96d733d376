"""From ranked results to an answer, with what lies beneath it.  Called by recall/recall.py and together.py."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.access import RAW_TYPES, is_limited, sees_documents, sight
from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.model.recalled import RankedUnit, RecallAnswer, SourceFacts
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import Beneath, BeneathQuery
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.packing import CHARACTERS_OF_A_TOKEN, fitting_chunks, fitting_sources
from hindsight_aws.recall.past import beneath_then
from hindsight_aws.recall.ranking import without_covered
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.retrieval import Pool
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.trace import freshness

_MOST_CHUNK_TOKENS = 100_000


def answered(
    tx: Transaction, task: Task, pool: Pool, results: Sequence[RankedUnit], kept: Sequence[RankedUnit]
) -> RecallAnswer:
    """The answer that shows what was `kept` of the results, with all that the caller asked for and may see of it."""
    query = task.query
    with task.trace.phase("read_beneath"):
        beneath = _in_time(tx, task, pool, _beneath(task, results, kept), "beneath")
    found = beneath or Beneath({}, {}, 0, {}, ())
    sees = task.sight.sees_beneath and beneath is not None
    shows_chunks = bool(query.chunk_tokens and query.chunk_tokens > 0 and _sees_chunks(task)) and beneath is not None
    hidden = None if beneath is None or not is_limited(task.principal) else beneath.hidden + pool.withheld
    return RecallAnswer(
        results=tuple(kept),
        entities_of=found.entities_of if query.with_entities and sees else None,
        chunks=fitting_chunks(found.chunks, task.bank.external_id, query.chunk_tokens or 0) if shows_chunks else None,
        sources=_sources(query, kept, found) if query.source_tokens is not None and sees else None,
        withheld=hidden,
        trace=_traced(task, pool, kept, found) if query.with_trace else None,
        fresh_of=found.fresh_of,
        quotes_of=found.quotes_of if query.with_quotes and sees else None,
        bank=task.bank.external_id,
    )


def without_what_is_covered(
    tx: Transaction, task: Task, pool: Pool, results: list[RankedUnit], window: int
) -> list[RankedUnit]:
    """Without raw facts that an observation of the window covers, if both kinds were asked for and somebody wants that.

    Observations and facts of other banks than the task's are left as they are.
    """
    wanted = task.query.prefer_observations
    is_wanted = task.config.recall_prefer_observations if wanted is None else wanted
    types = {result.unit.fact_type for result in results}
    if not is_wanted or "observation" not in types or not types & RAW_TYPES:
        return results
    seen = [result.unit.id for result in results[:window]]
    observations = [id_ for id_ in seen if id_ in pool.units and pool.units[id_].fact_type == "observation"]
    asked = BeneathQuery(task.bank.bank_id, observations, RAW_TYPES, TagFilter(), observations, with_evidence=True)
    covering = _in_time(tx, task, pool, asked, "prefer_observations")
    return results if covering is None else without_covered(results, covering.sources_of, window)


def _in_time(tx: Transaction, task: Task, pool: Pool, asked: BeneathQuery, name: str) -> Beneath | None:
    """What lies beneath; None when the time did not suffice for it, which is noted by the name."""
    if task.deadline is None:
        return _read(tx, task, pool, asked)
    try:
        with tx.recall.within(task.deadline.to_read_ms):
            return _read(tx, task, pool, asked)
    except DatabaseTooSlow:
        task.deadline.give_up(name)
        return None


def _read(tx: Transaction, task: Task, pool: Pool, asked: BeneathQuery) -> Beneath:
    if task.query.times.as_of is None:
        return tx.recall.beneath(asked)
    return beneath_then(tx, task, pool.revisions, asked)


def _traced(task: Task, pool: Pool, kept: Sequence[RankedUnit], beneath: Beneath) -> dict[str, object]:
    shown = task.trace.shown(task.query, task.windows, pool, kept, shows_keyword=not is_limited(task.principal))
    cut = {} if task.deadline is None else {"cut": task.deadline.cut}
    return {**shown, **cut, "freshness": freshness(beneath.fresh_of.values())}


def _sources(query: RecallQuery, kept: Sequence[RankedUnit], beneath: Beneath) -> SourceFacts:
    return fitting_sources(
        kept, beneath.sources_of, beneath.facts, query.source_tokens or 0, query.tokens_per_observation
    )


def _beneath(task: Task, results: Sequence[RankedUnit], kept: Sequence[RankedUnit]) -> BeneathQuery:
    """What to read beneath the answer: only what this caller may see of it, and counts of the rest."""
    query, principal = task.query, task.principal
    sources = sight(principal, None, query.tags)
    sees = task.sight.sees_beneath
    chunk_tokens = min(query.chunk_tokens or 0, _MOST_CHUNK_TOKENS) if _sees_chunks(task) else 0
    observations = [result.unit.id for result in kept if result.unit.fact_type == "observation"]
    return BeneathQuery(
        bank_id=task.bank.bank_id,
        units=[result.unit.id for result in kept],
        source_types=sources.fact_types if sees else frozenset(),
        source_tags=sources.tags,
        observations=observations,
        with_entities=query.with_entities and sees,
        with_sources=query.source_tokens is not None and sees,
        with_evidence=query.source_tokens is not None or is_limited(principal),
        with_quotes=query.with_quotes and sees,
        with_freshness=True,
        chunk_units=[result.unit.id for result in results] if chunk_tokens > 0 else (),
        chunk_characters=chunk_tokens * CHARACTERS_OF_A_TOKEN,
        chunk_own=principal.forced_tags,
    )


def _sees_chunks(task: Task) -> bool:
    return task.sight.sees_beneath and sees_documents(task.principal)
