"""The use case: find what several banks remember about a question, as one list.

Called by the API.  Each bank is searched by its own query under the caller's sight of it; only the ranking, and the
token budget, are common.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindsight_aws.access import is_limited, sees_bank
from hindsight_aws.errors import InvalidField, NotFound, VectorsReplaced
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import Believed, RankedUnit, RecallAnswer, RecalledUnit
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, Reranker
from hindsight_aws.ports.recall import Hits
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.recall.answer import answered, without_what_is_covered
from hindsight_aws.recall.arms import rarity_in_time
from hindsight_aws.recall.begin import begun
from hindsight_aws.recall.deadline import OutOfTime
from hindsight_aws.recall.fusion import Fused, fuse
from hindsight_aws.recall.limits import MOST_RANKED, rerank_limit
from hindsight_aws.recall.models import embedded, reranked
from hindsight_aws.recall.packing import fitting
from hindsight_aws.recall.ranking import ranked
from hindsight_aws.recall.recall import checked, without_semantics
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.retrieval import Pool, pooled
from hindsight_aws.recall.surroundings import in_context
from hindsight_aws.recall.task import Asked, Task
from hindsight_aws.recall.trace import Trace
from hindsight_aws.recall.words import Collection, keyword_hits
from hindsight_aws.settings import Settings
from hindsight_aws.text.terms import terms
from hindsight_aws.usage.ledger import ledger_entries


@dataclass(frozen=True, slots=True)
class AnswerTogether:
    """The answer of a recall over several banks, best first, with the bank of each result.

    `by_bank` holds each bank's own share in the order the banks were named; `cut` and `believed` as of RecallAnswer.
    """

    results: tuple[RankedUnit, ...]
    bank_of: Mapping[UnitId, str] = field(default_factory=dict)
    by_bank: Mapping[str, RecallAnswer] = field(default_factory=dict)
    cut: tuple[str, ...] | None = None
    believed: Believed | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """What one bank brings."""

    task: Task
    pool: Pool
    counts: Mapping[str, int]


def recall_together(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    principal: Principal,
    banks: Sequence[str],
    query: RecallQuery,
    *,
    reranker: Reranker | None = None,
    clock: Clock,
) -> AnswerTogether:
    """What these banks remember about the question, best first, within one budget.

    Raises: as `recall`; NotFound names every bank that is not there or not covered by the key, alike, and nothing is
    looked for then; InvalidField for no bank or too many.

    Guarantees: as `recall`, for each bank.  A memory's place does not depend on how large its bank is: similarity means
    the same everywhere, and rarity of words is counted over all the banks asked.
    """
    asked = checked(settings, principal, query, reranker, clock)
    names = _names(settings, banks)
    usage: list[ModelUsage] = []
    try:
        return _recalled(store, embedder, asked, names, reranker, usage)
    except VectorsReplaced:  # between the query's embedding and the search: the next one is of the new model
        return _recalled(store, embedder, asked, names, reranker, usage)


def _recalled(
    store: Store,
    embedder: Embedder,
    asked: Asked,
    names: Sequence[str],
    reranker: Reranker | None,
    usage: list[ModelUsage],
) -> AnswerTogether:
    """The answer.  Raises: VectorsReplaced when the vectors of a bank became another model's meanwhile."""
    settings, principal, query = asked.settings, asked.principal, asked.query
    tasks = _begun(store, asked, names)
    if not tasks:
        return AnswerTogether((), cut=asked.cut, believed=asked.nothing_believed)
    vectors = _vectors(store, embedder, tasks, usage)
    with store.snapshot(principal.tenant_id) as tx:
        found = [_found(tx, task, vectors.get(task.bank.embedding_model)) for task in tasks]
    fused, units, home = _together(found)
    scores = None
    if reranker is not None and not tasks[0].is_parked and any(task.config.enable_reranking for task in tasks):
        best = [units[candidate.id] for candidate in fused][: rerank_limit(settings, query.budget)]
        scores = reranked(reranker, tasks[0], best, usage)
    ranks_only = reranker is not None and reranker.ranks_only
    with store.snapshot(principal.tenant_id) as tx:
        tx.usage.record(ledger_entries(usage, principal.subject, None if len(tasks) > 1 else tasks[0].bank.bank_id))
        boosts = tasks[0].config.recall_strategy_boosts
        results = ranked(
            fused,
            units,
            tasks[0].now,
            query.min_scores,
            scores,
            ranks_only=ranks_only,
            boosts=boosts,
            shows_keyword=not is_limited(principal),
        )
        answer = _answered(tx, found, results, home)
    return replace(answer, cut=tasks[0].cut(asked))


def _names(settings: Settings, banks: Sequence[str]) -> list[str]:
    most = settings.hindsight_recall_most_banks
    if not most:
        raise NotFound("Recall over several banks is switched off: HINDSIGHT_RECALL_MOST_BANKS is 0")
    names = list(dict.fromkeys(banks))
    if not 1 <= len(names) <= most:
        raise InvalidField("banks", f"must name from 1 to {most} banks")
    return names


def _begun(store: Store, asked: Asked, names: Sequence[str]) -> list[Task]:
    """A task for each bank that may hold something."""
    with store.transaction(asked.principal.tenant_id) as tx:
        there: dict[str, Bank] = {}
        for name in names:
            # Looked up whether the key covers it or not: an answer takes as long for one as for the other.
            bank = tx.banks.find(name)
            if bank is not None and sees_bank(asked.principal, name):
                there[name] = bank
        if missing := [name for name in names if name not in there]:
            named = ", ".join(f"'{name}'" for name in missing)
            raise NotFound(f"Bank{'s' if len(missing) > 1 else ''} {named} not found")
        begins = [begun(tx, asked, bank, Trace()) for bank in there.values()]
    return [task for task in begins if task is not None]


def _vectors(
    store: Store, embedder: Embedder, tasks: Sequence[Task], usage: list[ModelUsage]
) -> dict[str | None, array[float] | None]:
    """The question's vector by the model of banks' vectors, made once by each that is served."""
    made: dict[str, array[float] | None] = {}
    of_banks: dict[str | None, array[float] | None] = {}
    for task in tasks:
        own = embedder.of(task.bank.embedding_model)
        if own is None or task.is_parked:
            task.trace.degraded.append("semantic")
            continue
        if own.model not in made:
            try:
                made[own.model] = embedded(store, own, task, usage)
            except OutOfTime:
                without_semantics(task)
                made[own.model] = None
        of_banks[task.bank.embedding_model] = made[own.model]
    return of_banks


def _found(tx: Transaction, task: Task, vector: array[float] | None) -> _Found:
    pool = pooled(tx, task, vector)
    return _Found(task, pool, rarity_in_time(tx, task))


def _together(
    found: Sequence[_Found],
) -> tuple[Sequence[Fused], Mapping[UnitId, RecalledUnit], Mapping[UnitId, _Found]]:
    """The best of every bank in one order, their rows, and what bank each is of.

    Scores within a bank are relative to its own best and to its own words: the best of a bank that knows nothing would
    stand beside the best of one that knows it all.  So each bank chooses its candidates by itself, and they are scored
    anew: by similarity as it is, and by words whose rarity is counted over all the banks.
    """
    share = max(MOST_RANKED // len(found), 1)
    units: dict[UnitId, RecalledUnit] = {}
    home: dict[UnitId, _Found] = {}
    proximity: dict[UnitId, float] = {}
    in_time: set[UnitId] = set()
    for one in found:
        for candidate in [each for each in one.pool.fused if each.id in one.pool.units][:share]:
            # An id that two banks share, one being a copy, counts for the bank that was named first.
            if candidate.id not in units:
                units[candidate.id], home[candidate.id] = one.pool.units[candidate.id], one
                if candidate.proximity is not None:
                    proximity[candidate.id] = candidate.proximity
                if candidate.is_in_time:
                    in_time.add(candidate.id)
    arms = {arm: _joined(found, arm, units) for arm in ("semantic", "keyword", "graph", "temporal")}
    arms["keyword"] = _by_words(found, units)
    fused = fuse(arms, proximity)
    for candidate in fused:
        candidate.is_in_time = candidate.id in in_time
    return in_context(fused, units, frozenset(terms(found[0].task.text))), units, home


def _joined(found: Sequence[_Found], arm: str, units: Mapping[UnitId, RecalledUnit]) -> Hits:
    """One arm's hits of all banks, best first."""
    best: dict[UnitId, float] = {}
    for one in found:
        for of_type in one.pool.arms.get(arm, {}).values():
            for unit_id, score in of_type:
                best[unit_id] = max(score, best.get(unit_id, score))
    return sorted((hit for hit in best.items() if hit[0] in units), key=lambda hit: (-hit[1], hit[0]))


def _by_words(found: Sequence[_Found], units: Mapping[UnitId, RecalledUnit]) -> Hits:
    sizes = [size for one in found for of, size in one.task.census.sizes.items() if of in one.task.sight.fact_types]
    # One question: the terms of any bank that is searched by words.
    asked = next((one.task.terms for one in found if one.task.terms), ())
    everything = Collection(
        units=sum(size.units for size in sizes),
        terms=sum(size.terms for size in sizes),
        counts={term: sum(one.counts.get(term, 0) for one in found) for term in asked},
    )
    by_words = {unit_id for one in found for hits in one.pool.arms.get("keyword", {}).values() for unit_id, _ in hits}
    texts = {unit_id: units[unit_id].text for unit_id in units if unit_id in by_words}
    return keyword_hits(texts, asked, everything, found[0].task.settings.hindsight_api_bm25_max_query_terms)


def _answered(
    tx: Transaction, found: Sequence[_Found], results: list[RankedUnit], home: Mapping[UnitId, _Found]
) -> AnswerTogether:
    """What fits of the results into the one budget, with what lies beneath it in each bank."""
    query, window = found[0].task.query, 2 * found[0].task.limit
    for one in found:
        results = without_what_is_covered(tx, one.task, one.pool, results, window)
    results = results[:window]
    kept = fitting(results, query.max_tokens)
    by_bank = {
        one.task.bank.external_id: answered(
            tx,
            one.task,
            one.pool,
            [result for result in results if home[result.unit.id] is one],
            [result for result in kept if home[result.unit.id] is one],
        )
        for one in found
    }
    bank_of = {result.unit.id: home[result.unit.id].task.bank.external_id for result in kept}
    as_of = query.times.as_of
    believed = None if as_of is None else Believed(as_of, all(one.pool.is_complete for one in found))
    return AnswerTogether(tuple(kept), bank_of, by_bank, believed=believed)
