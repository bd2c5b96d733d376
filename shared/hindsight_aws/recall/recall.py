"""The use case: find what a bank remembers about a question.

Called by the API and reflect; see recall/__init__.py.
The bank is found and measured in one transaction, the query is embedded outside any, and all else is read in a second
one of four round trips (a third one follows a rerank model).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

from hindsight_aws.access import bank_not_found as not_found
from hindsight_aws.access import is_limited, require, require_bank
from hindsight_aws.errors import InvalidField, InvalidRequest, VectorsReplaced
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.recalled import Believed, RecallAnswer
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, Reranker
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.recall.answer import answered, without_what_is_covered
from hindsight_aws.recall.arms import arms_in_use
from hindsight_aws.recall.awaited import awaited
from hindsight_aws.recall.begin import begun
from hindsight_aws.recall.deadline import Deadline, OutOfTime
from hindsight_aws.recall.limits import rerank_limit
from hindsight_aws.recall.models import embedded, reranked
from hindsight_aws.recall.packing import fitting
from hindsight_aws.recall.ranking import ranked
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.retrieval import Pool, pooled
from hindsight_aws.recall.task import Asked, Task
from hindsight_aws.recall.trace import Trace
from hindsight_aws.settings import Settings
from hindsight_aws.usage.ledger import ledger_entries


def recall(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    principal: Principal,
    bank: str,
    query: RecallQuery,
    *,
    reranker: Reranker | None = None,
    clock: Clock,
) -> RecallAnswer:
    """What the bank remembers about the question, best first, within the question's budgets.

    Raises: NotFound for a bank that is not there or not covered by the key, AccessDenied without read permission,
    ModelThrottled and other model errors when the query cannot be embedded, InvalidRequest for a floor on scores that
    the rerank model does not give, InvalidField for a write that the bank knows nothing of and for a moment of the
    past that is yet to come, DatabaseUnavailable.

    Guarantees: writes nothing but the ledger lines of its model calls.  No result, source or chunk is outside what
    the query's types and tags and the principal allow.  The same question to unchanged rows of a bank that is
    searched exactly gives the same answer.  Fails over to the fused order when the rerank model fails, and to words
    alone when the model of the bank's vectors is not served; the trace says so.  A query is never compared with vectors
    of another model, whenever the bank's are replaced.  While the tenant's model work waits for the next day, no model
    is asked: words, time and links answer alone.  What that or a deadline cut is named.
    """
    asked = checked(settings, principal, query, reranker, clock)
    require_bank(principal, bank)
    written = None if query.after is None else awaited(store, principal, bank, query.after, asked.deadline)
    usage: list[ModelUsage] = []
    try:
        answer = _recalled(store, embedder, asked, bank, reranker, usage)
    except VectorsReplaced:  # between the query's embedding and the search: the next one is of the new model
        answer = _recalled(store, embedder, asked, bank, reranker, usage)
    return replace(answer, written=written)


def _recalled(
    store: Store, embedder: Embedder, asked: Asked, bank: str, reranker: Reranker | None, usage: list[ModelUsage]
) -> RecallAnswer:
    """The answer.  Raises: VectorsReplaced when the bank's vectors became another model's meanwhile."""
    principal = asked.principal
    task = _begun(store, asked, bank)
    if task is None:
        nothing = RecallAnswer(results=(), withheld=0 if is_limited(principal) else None, bank=bank)
        return replace(nothing, cut=asked.cut, believed=asked.nothing_believed)
    vector = _vector(store, embedder, task, usage)
    with store.snapshot(principal.tenant_id) as tx:
        pool = pooled(tx, task, vector)
        if not pool.units and tx.banks.find(bank) is None:
            raise not_found(bank)
        if reranker is None or task.is_parked or not task.config.enable_reranking:
            return replace(_answered(tx, task, pool, None, usage), cut=task.cut(asked))
    there = [pool.units[candidate.id] for candidate in pool.fused if candidate.id in pool.units]
    scores = reranked(reranker, task, there[: rerank_limit(asked.settings, asked.query.budget)], usage)
    with store.snapshot(principal.tenant_id) as tx:
        answer = _answered(tx, task, pool, scores, usage, ranks_only=reranker.ranks_only)
    return replace(answer, cut=asked.cut)


def checked(
    settings: Settings, principal: Principal, query: RecallQuery, reranker: Reranker | None, clock: Clock
) -> Asked:
    """The question of a caller who may read, asked for what can be given; its deadline counts from here.

    Raises: AccessDenied, InvalidRequest, and InvalidField for a moment of the past that is yet to come and for a floor
    on keyword scores from a key that is shown none: they tell how rare a word is in all the bank.
    """
    require(principal, Permission.READ)
    if query.min_scores.keyword is not None and is_limited(principal):
        raise InvalidField("min_scores.keyword", "cannot be asked for with a key that sees part of a bank")
    if reranker is not None and reranker.ranks_only and query.min_scores.reranker is not None:
        raise InvalidRequest("min_scores.reranker needs a rerank model whose scores mean more than an order")
    present = clock.now()
    if query.times.as_of is not None and query.times.as_of > present:
        raise InvalidField("as_of", "must not lie in the future")
    deadline = None if query.deadline_ms is None else Deadline(query.deadline_ms)
    return Asked(settings, principal, query, present, deadline)


def without_semantics(task: Task) -> None:
    """Notes that a deadline cut what needs the query's vector."""
    if task.deadline is not None:
        task.deadline.give_up(*(arm for arm in arms_in_use(task.config, task.windows) if arm != "keyword"))


def _begun(store: Store, asked: Asked, bank: str) -> Task | None:
    trace = Trace()
    with trace.phase("find_bank"), store.transaction(asked.principal.tenant_id) as tx:
        found = tx.banks.find(bank)
        if found is None:
            raise not_found(bank)
        return begun(tx, asked, found, trace)


def _vector(store: Store, embedder: Embedder, task: Task, usage: list[ModelUsage]) -> array[float] | None:
    """The query's vector, or None: the bank's model is not served, it has no direction, or it did not come in time."""
    own = embedder.of(task.bank.embedding_model)
    if own is None:
        task.trace.degraded.append("semantic")
        return None
    made = task.query.vector
    if made is not None and made.model == own.model:
        return made.values
    if task.is_parked:
        task.trace.degraded.append("semantic")
        return None
    try:
        return embedded(store, own, task, usage)
    except OutOfTime:
        without_semantics(task)
        return None


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
        boosts = task.config.recall_strategy_boosts
        results = ranked(
            pool.fused,
            pool.units,
            task.now,
            query.min_scores,
            scores,
            ranks_only=ranks_only,
            boosts=boosts,
            shows_keyword=not is_limited(task.principal),
        )
        results = without_what_is_covered(tx, task, pool, results, 2 * task.limit)[: 2 * task.limit]
        kept = fitting(results, query.max_tokens)
    as_of = query.times.as_of
    believed = None if as_of is None else Believed(as_of, pool.is_complete)
    return replace(answered(tx, task, pool, results, kept), believed=believed)
