"""Gathers candidates: the arms in at most two round trips, their fusion, and the rows behind the best.

Called by recall/recall.py; calls ports/recall.py.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from hindsight_aws.access import sight
from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.ports.recall import CandidateQuery, Candidates, DatedHit, Dates, Expansion, ExpansionQuery, Hits
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.arms import arms_in_use, candidates_in_time
from hindsight_aws.recall.fusion import Fused, fuse, is_full, joined
from hindsight_aws.recall.limits import MOST_RANKED
from hindsight_aws.recall.past import Former, former_hits, units_then
from hindsight_aws.recall.strategy_boosts import kept
from hindsight_aws.recall.surroundings import in_context
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.temporal import entries, proximity_inside, temporal_arm
from hindsight_aws.text.terms import terms

_MOST_SEEDS: Final = 20


@dataclass(frozen=True, slots=True)
class Pool:
    """What was found: each arm's hits by fact type (an arm that did not run is missing), fused, with the best's rows.

    `seconds` says how long the database took for an arm and fact type, where that was asked.  Of a past moment,
    `revisions` are those that were current of each observation, `withheld` counts what the caller may not see of the
    words of then, and not `is_complete` says that more of them are left than were read.
    """

    arms: Mapping[str, Mapping[str, Hits]]
    fused: Sequence[Fused]
    units: Mapping[UnitId, RecalledUnit]
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)
    revisions: Mapping[UnitId, UUID] = field(default_factory=dict)
    withheld: int = 0
    is_complete: bool = True


def pooled(tx: Transaction, task: Task, vector: array[float] | None) -> Pool:
    """The candidates of every arm that the bank uses, fused, with the rows behind the best of them."""
    with task.trace.phase("retrieve"):
        found = _found(tx, task, _candidate_query(task, vector))
    chosen = {fact_type: entries(hits, task.windows) for fact_type, hits in (found.dated or {}).items()}
    expansion = _expanded(tx, task, vector, found, chosen)
    former = None if task.query.times.as_of is None else former_hits(tx, task, vector)
    with task.trace.phase("fuse"):
        arms, proximity = _arms(task, found if former is None else _with(found, former), chosen, expansion)
        every = fuse({arm: joined(hits, task.fact_types) for arm, hits in arms.items()}, proximity)
        fused = kept(every, task.config.recall_strategy_boosts or {}, MOST_RANKED)
    with task.trace.phase("read"):
        ids = [candidate.id for candidate in fused]
        units, revisions = _read(tx, task, ids)
    _place_in_time(task, fused, units)
    with task.trace.phase("weigh_surroundings"):
        weighed = in_context(fused, units, frozenset(terms(task.text)))
    seconds = _added(found.seconds, {} if expansion is None else expansion.seconds)
    if former is None:
        return Pool(arms, weighed, units, seconds)
    return Pool(arms, weighed, units, seconds, revisions, former.withheld, former.is_complete)


def _read(
    tx: Transaction, task: Task, ids: Sequence[UnitId]
) -> tuple[Mapping[UnitId, RecalledUnit], Mapping[UnitId, UUID]]:
    """The rows behind the candidates, as of now or as of then; none when a deadline left no time for them."""
    if task.deadline is None:
        return _rows(tx, task, ids)
    try:
        with tx.recall.within(task.deadline.to_read_ms):
            return _rows(tx, task, ids)
    except DatabaseTooSlow:
        task.deadline.give_up(*arms_in_use(task.config, task.windows))
        return {}, {}


def _rows(
    tx: Transaction, task: Task, ids: Sequence[UnitId]
) -> tuple[Mapping[UnitId, RecalledUnit], Mapping[UnitId, UUID]]:
    if task.query.times.as_of is not None:
        then = units_then(tx, task, ids)
        return then.units, then.revisions
    return tx.recall.units(task.bank.bank_id, ids, task.sight.fact_types, task.sight.tags, task.query.times), {}


def _with(found: Candidates, former: Former) -> Candidates:
    """The candidates with those found among former words, best first."""
    semantic = None if found.semantic is None else _merged(found.semantic, former.semantic)
    keyword = None if found.keyword is None else _merged(found.keyword, former.keyword)
    return replace(found, semantic=semantic, keyword=keyword)


def _merged(first: Mapping[str, Hits], second: Mapping[str, Hits]) -> dict[str, Hits]:
    return {
        of: sorted([*first.get(of, ()), *second.get(of, ())], key=lambda hit: (-hit[1], hit[0]))
        for of in dict.fromkeys([*first, *second])
    }


def _found(tx: Transaction, task: Task, query: CandidateQuery) -> Candidates:
    if task.query.times.as_of is not None and task.sight.fact_types.isdisjoint(query.census.sizes):
        # The bank holds nothing of these types any more; what it held may be found among former words.
        return Candidates({} if query.vector else None, {} if query.terms else None)
    if task.deadline is None:
        return tx.recall.candidates(query)
    found = candidates_in_time(tx, query, task.deadline)
    if "semantic" in task.deadline.cut and task.config.enable_graph_retrieval:
        task.deadline.give_up("graph")
    return found


def _candidate_query(task: Task, vector: array[float] | None) -> CandidateQuery:
    query, settings = task.query, task.settings
    floor = query.min_scores.semantic
    return CandidateQuery(
        bank_id=task.bank.bank_id,
        fact_types=task.fact_types,
        tags=task.sight.tags,
        limit=task.limit,
        census=task.census,
        vector=vector,
        min_similarity=settings.hindsight_api_semantic_min_similarity if floor is None else floor,
        min_keyword=query.min_scores.keyword or 0.0,
        terms=task.terms,
        exact_limit=settings.hindsight_api_recall_exact_scan_limit,
        most_terms=settings.hindsight_api_bm25_max_query_terms,
        times=query.times,
        windows=tuple((window.start, window.end) for window in task.windows),
        min_dated_similarity=settings.hindsight_api_temporal_semantic_min_similarity,
        is_timed=query.with_trace,
        comparable=(task.bank.embedding_model,),
    )


def _expanded(
    tx: Transaction,
    task: Task,
    vector: array[float] | None,
    found: Candidates,
    chosen: Mapping[str, Sequence[DatedHit]],
) -> Expansion | None:
    """What the best of meaning and of time lead to; None without a way to go, and when it took too long."""
    seeds = _seeds(task, found) if task.config.enable_graph_retrieval and _has_room(task, found) else {}
    started = {of: [hit.id for hit in hits] for of, hits in chosen.items() if hits and of != "observation"}
    if vector is None or not (seeds or started):
        return None
    sources = sight(task.principal, None, task.query.tags)
    settings = task.settings
    with task.trace.phase("expand"):
        expansion = tx.recall.expand(
            ExpansionQuery(
                bank_id=task.bank.bank_id,
                tags=task.sight.tags,
                times=task.query.times,
                limit=task.limit,
                seeds=seeds,
                entries=started,
                vector=vector,
                source_types=sources.source_types,
                source_tags=sources.tags,
                min_similarity=settings.hindsight_api_temporal_semantic_min_similarity,
                per_entity=settings.hindsight_api_link_expansion_per_entity_limit,
                timeout_ms=_timeout_ms(task, len(seeds) + len(started)),
                is_timed=task.query.with_trace,
            )
        )
    if expansion is None:
        missing = [arm for arm, began in (("graph", seeds), ("temporal", started)) if began]
        task.trace.degraded += missing
        if task.deadline is not None:
            task.deadline.give_up(*missing)
    return expansion


def _timeout_ms(task: Task, statements: int) -> int:
    """How long each statement of the step may take: what the settings say, and no more than a deadline leaves to it."""
    longest = round(task.settings.hindsight_api_link_expansion_timeout * 1_000)
    return longest if task.deadline is None else max(1, min(longest, task.deadline.to_look_ms // statements))


def _has_room(task: Task, found: Candidates) -> bool:
    """Whether what only the graph leads to can come into the ranking, where it stands last; a trace shows it anyway."""
    arms = [hits for by_type in (found.semantic, found.keyword) for hits in (by_type or {}).values()]
    is_wanted = task.query.with_trace or "graph" in (task.config.recall_strategy_boosts or {})
    return is_wanted or not is_full(arms, MOST_RANKED)


def _seeds(task: Task, found: Candidates) -> dict[str, list[UnitId]]:
    """The best of each type by meaning; of observations only where the caller may see what they rest on."""
    floor = task.settings.hindsight_api_graph_seed_min_similarity
    best = {
        fact_type: [unit_id for unit_id, similarity in hits[:_MOST_SEEDS] if similarity >= floor]
        for fact_type, hits in (found.semantic or {}).items()
        if fact_type != "observation" or task.sight.sees_beneath
    }
    return {fact_type: ids for fact_type, ids in best.items() if ids}


def _arms(
    task: Task, found: Candidates, chosen: Mapping[str, Sequence[DatedHit]], expansion: Expansion | None
) -> tuple[dict[str, Mapping[str, Hits]], Mapping[UnitId, float]]:
    """The hits of each arm that ran, in the order that breaks ties, and what is known of proximity in time."""
    arms: dict[str, Mapping[str, Hits]] = {}
    if found.semantic is not None:
        arms["semantic"] = found.semantic
    if found.keyword is not None:
        arms["keyword"] = found.keyword
    if found.semantic is not None and task.config.enable_graph_retrieval:
        arms["graph"] = {} if expansion is None else expansion.near
    if found.dated is None:
        return arms, {}
    temporal = temporal_arm(chosen, {} if expansion is None else expansion.linked, task.windows, task.limit)
    arms["temporal"] = temporal.hits
    return arms, temporal.proximity


def _place_in_time(task: Task, fused: Sequence[Fused], units: Mapping[UnitId, RecalledUnit]) -> None:
    """Places what other arms found in time too: the temporal arm names only a few of a window's memories."""
    for candidate in fused if task.windows else ():
        unit = units.get(candidate.id)
        if unit is None:
            continue
        inside = proximity_inside(Dates(unit.occurred_start, unit.occurred_end, unit.mentioned_at), task.windows)
        candidate.is_in_time = inside is not None
        if candidate.proximity is None:
            candidate.proximity = inside


def _added(
    first: Mapping[tuple[str, str], float], second: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    return {key: first.get(key, 0.0) + second.get(key, 0.0) for key in {**first, **second}}
