"""The use case: find what a bank remembers about a question.

Called by the API, MCP and reflect; see recall/__init__.py.
The bank is found and measured in one transaction, the query is embedded outside any, and all else is read in a second
one of four round trips (a third one follows a rerank model).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import datetime

from hindsight_aws.access import bank_not_found as not_found
from hindsight_aws.access import document_tags, is_limited, require, require_bank, sees_documents, sight
from hindsight_aws.banks.config import BankConfig, resolve
from hindsight_aws.errors import InvalidRequest, ModelError, ModelThrottled
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.recalled import RankedUnit, RecallAnswer, RecalledUnit, SourceFacts
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, Reranker
from hindsight_aws.ports.recall import Beneath, BeneathQuery
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.recall.limits import candidate_limit, rerank_limit
from hindsight_aws.recall.packing import fitting, fitting_chunks, fitting_sources
from hindsight_aws.recall.ranking import RAW_TYPES, ranked, without_covered
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.retrieval import Pool, pooled
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.trace import Trace, freshness
from hindsight_aws.recall.when.find import time_windows
from hindsight_aws.recall.when.window import Window
from hindsight_aws.settings import Settings
from hindsight_aws.text.tokens import truncate
from hindsight_aws.usage.ledger import ledger_entries

_MOST_ANCHORED = 10_000
# The longest text a token budget can hold, so that no more chunk text is read than may be shown.
_CHARACTERS_OF_A_TOKEN = 8
_MOST_CHUNK_TOKENS = 100_000


def recall(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    principal: Principal,
    bank: str,
    query: RecallQuery,
    *,
    reranker: Reranker | None = None,
    clock: Clock | None = None,
) -> RecallAnswer:
    """What the bank remembers about the question, best first, within the question's budgets.

    Raises: NotFound for a bank that is not there or not covered by the key, AccessDenied without read permission,
    ModelThrottled and other model errors when the query cannot be embedded, InvalidRequest for a floor on scores that
    the rerank model does not give, DatabaseUnavailable.

    Guarantees: writes nothing but the ledger lines of its model calls.  No result, source or chunk is outside what
    the query's types and tags and the principal allow.  The same question to unchanged rows of a bank that is
    searched exactly gives the same answer.  Fails over to the fused order when the rerank model fails, and to words
    alone when the bank's vectors are of another model; the trace says so.
    """
    require(principal, Permission.READ)
    require_bank(principal, bank)
    if reranker is not None and reranker.ranks_only and query.min_scores.reranker is not None:
        raise InvalidRequest("min_scores.reranker needs a rerank model whose scores mean more than an order")
    task = _begun(store, settings, principal, bank, query, clock or SystemClock())
    if task is None:
        return RecallAnswer(results=(), withheld=0 if is_limited(principal) else None, bank=bank)
    usage: list[ModelUsage] = []
    vector = _embedded(store, embedder, task, usage)
    with store.snapshot(principal.tenant_id) as tx:
        pool = pooled(tx, task, vector)
        if not pool.units and tx.banks.find(bank) is None:
            raise not_found(bank)
        if reranker is None or not task.config.enable_reranking:
            return _answered(tx, task, pool, None, usage)
    scores = _reranked(reranker, task, pool, usage)
    with store.snapshot(principal.tenant_id) as tx:
        return _answered(tx, task, pool, scores, usage, ranks_only=reranker.ranks_only)


def _begun(
    store: Store, settings: Settings, principal: Principal, bank: str, query: RecallQuery, clock: Clock
) -> Task | None:
    """The task, or None when nothing can be found: no type is left, or the bank holds nothing of them."""
    trace = Trace()
    seen = sight(principal, query.fact_types, query.tags)
    with trace.phase("find_bank"), store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank)
        if found is None:
            raise not_found(bank)
        census = tx.recall.census(found.bank_id, seen.tags, _MOST_ANCHORED)
    if not any(fact_type in seen.fact_types for fact_type in census.sizes):
        return None
    config = resolve(settings, found.overrides)
    now = query.now or clock.now()
    most_tokens = settings.hindsight_api_recall_max_query_tokens
    text = truncate(query.sound_query, most_tokens) if most_tokens else query.sound_query
    return Task(
        query=query,
        text=text,
        principal=principal,
        bank=found,
        config=config,
        settings=settings,
        sight=seen,
        census=census,
        limit=candidate_limit(config, query.budget, query.max_tokens),
        now=now,
        windows=_windows(config, query, text, now),
        trace=trace,
    )


def _windows(config: BankConfig, query: RecallQuery, text: str, now: datetime) -> tuple[Window, ...]:
    """The time the question is about: the caller's word for it, else what its own words say."""
    if not config.enable_temporal_retrieval:
        return ()
    return time_windows(text, now) if query.temporal_window is None else (Window(*query.temporal_window),)


def _embedded(store: Store, embedder: Embedder, task: Task, usage: list[ModelUsage]) -> array[float] | None:
    """The query's vector, or None when it has no direction or the bank's vectors are of another model."""
    if task.bank.embedding_model not in (None, embedder.model):
        task.trace.degraded.append("semantic")
        return None
    try:
        with task.trace.phase("embed_query"):
            embedding = embedder.embed([task.text], "query", usage.append)[0]
    except (ModelError, ModelThrottled):
        with store.transaction(task.principal.tenant_id) as tx:
            tx.usage.record(ledger_entries(usage, task.principal.subject, task.bank.bank_id))
        raise
    return None if embedding.is_zero else embedding.values


def _reranked(
    reranker: Reranker, task: Task, pool: Pool, usage: list[ModelUsage]
) -> Sequence[tuple[int, float]] | None:
    """The rerank model's scores by index among the pool's rows, or None when it failed."""
    there = [pool.units[candidate.id] for candidate in pool.fused if candidate.id in pool.units]
    texts = [_rerank_text(unit) for unit in there[: rerank_limit(task.query.budget)]]
    if not texts:
        return None
    try:
        with task.trace.phase("rerank"):
            return reranker.rerank(task.text, texts, len(texts), usage.append)
    except (ModelError, ModelThrottled):
        task.trace.degraded.append("rerank")
        return None


def _rerank_text(unit: RecalledUnit) -> str:
    dated = f"[Date: {unit.occurred_start:%B %d, %Y (%Y-%m-%d)}] " if unit.occurred_start else ""
    return f"{dated}{unit.context}: {unit.text}" if unit.context else f"{dated}{unit.text}"


def _answered(
    tx: Transaction,
    task: Task,
    pool: Pool,
    scores: Sequence[tuple[int, float]] | None,
    usage: list[ModelUsage],
    *,
    ranks_only: bool = False,
) -> RecallAnswer:
    query = task.query
    tx.usage.record(ledger_entries(usage, task.principal.subject, task.bank.bank_id))
    with task.trace.phase("rank"):
        results = ranked(pool.fused, pool.units, task.now, query.min_scores, scores, ranks_only=ranks_only)
        results = _preferred(tx, task, results)[: 2 * task.limit]
        kept = fitting(results, query.max_tokens)
    with task.trace.phase("read_beneath"):
        beneath = tx.recall.beneath(_beneath(task, results, kept))
    with_sources = query.source_tokens is not None and task.sight.sees_beneath
    shows_entities = query.with_entities and task.sight.sees_beneath
    shows_chunks = bool(query.chunk_tokens and query.chunk_tokens > 0 and _sees_chunks(task))
    return RecallAnswer(
        results=kept,
        entities_of=beneath.entities_of if shows_entities else None,
        chunks=fitting_chunks(beneath.chunks, task.bank.external_id, query.chunk_tokens or 0) if shows_chunks else None,
        sources=_sources(query, kept, beneath) if with_sources else None,
        withheld=beneath.hidden if is_limited(task.principal) else None,
        trace=_traced(task, pool, kept, beneath) if query.with_trace else None,
        fresh_of=beneath.fresh_of,
        quotes_of=beneath.quotes_of if query.with_quotes and task.sight.sees_beneath else None,
        bank=task.bank.external_id,
    )


def _traced(task: Task, pool: Pool, kept: Sequence[RankedUnit], beneath: Beneath) -> dict[str, object]:
    shown = task.trace.shown(task.query, task.windows, pool, kept)
    return {**shown, "freshness": freshness(beneath.fresh_of.values())}


def _sources(query: RecallQuery, kept: Sequence[RankedUnit], beneath: Beneath) -> SourceFacts:
    return fitting_sources(
        kept, beneath.sources_of, beneath.facts, query.source_tokens or 0, query.tokens_per_observation
    )


def _preferred(tx: Transaction, task: Task, results: list[RankedUnit]) -> list[RankedUnit]:
    """Without raw facts that an observation covers, if both kinds were asked for and caller or bank want that."""
    wanted = task.query.prefer_observations
    is_wanted = task.config.recall_prefer_observations if wanted is None else wanted
    types = {result.unit.fact_type for result in results}
    if not is_wanted or "observation" not in types or not types & RAW_TYPES:
        return results
    window = results[: 2 * task.limit]
    observations = [result.unit.id for result in window if result.unit.fact_type == "observation"]
    covering = tx.recall.beneath(
        BeneathQuery(task.bank.bank_id, observations, RAW_TYPES, TagFilter(), with_evidence=True)
    )
    return without_covered(results, covering.sources_of, len(window))


def _beneath(task: Task, results: Sequence[RankedUnit], kept: Sequence[RankedUnit]) -> BeneathQuery:
    """What to read beneath the answer: only what this caller may see of it, and counts of the rest."""
    query, principal = task.query, task.principal
    sources = sight(principal, None, query.tags)
    sees = task.sight.sees_beneath
    chunk_tokens = min(query.chunk_tokens or 0, _MOST_CHUNK_TOKENS) if _sees_chunks(task) else 0
    observations = any(result.unit.fact_type == "observation" for result in kept)
    return BeneathQuery(
        bank_id=task.bank.bank_id,
        units=[result.unit.id for result in kept],
        source_types=sources.fact_types if sees else frozenset(),
        source_tags=sources.tags,
        with_entities=query.with_entities and sees,
        with_sources=observations and query.source_tokens is not None and sees,
        with_evidence=observations and (query.source_tokens is not None or is_limited(principal)),
        with_quotes=observations and query.with_quotes and sees,
        with_freshness=observations,
        chunk_units=[result.unit.id for result in results] if chunk_tokens > 0 else (),
        chunk_characters=chunk_tokens * _CHARACTERS_OF_A_TOKEN,
        chunk_tags=document_tags(principal, query.tags),
    )


def _sees_chunks(task: Task) -> bool:
    return task.sight.sees_beneath and sees_documents(task.principal)
