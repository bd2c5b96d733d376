"""Gathers candidates: the arms in at most two round trips, their fusion, and the rows behind the best.

Called by recall/recall.py; calls ports/recall.py.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hindsight_aws.access import sight
from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.ports.recall import CandidateQuery, Candidates, DatedHit, Dates, Expansion, ExpansionQuery, Hits
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.fusion import Fused, fuse, is_full, joined
from hindsight_aws.recall.limits import MOST_RANKED
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.temporal import entries, proximity_inside, temporal_arm
from hindsight_aws.text.terms import terms

_MOST_ASKED_TERMS: Final = 64
_MOST_SEEDS: Final = 20


@dataclass(frozen=True, slots=True)
class Pool:
    """What was found: each arm's hits by fact type (an arm that did not run is missing), fused, with the best's rows.

    `seconds` says how long the database took for an arm and fact type, where that was asked.
    """

    arms: Mapping[str, Mapping[str, Hits]]
    fused: Sequence[Fused]
    units: Mapping[UnitId, RecalledUnit]
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)


def pooled(tx: Transaction, task: Task, vector: array[float] | None) -> Pool:
    """The candidates of every arm that the bank uses, fused, with the rows behind the best of them."""
    with task.trace.phase("retrieve"):
        found = tx.recall.candidates(_candidate_query(task, vector))
    chosen = {fact_type: entries(hits, task.windows) for fact_type, hits in (found.dated or {}).items()}
    expansion = _expanded(tx, task, vector, found, chosen)
    with task.trace.phase("fuse"):
        arms, proximity = _arms(task, found, chosen, expansion)
        fused = fuse({arm: joined(hits, task.fact_types) for arm, hits in arms.items()}, proximity)[:MOST_RANKED]
    with task.trace.phase("read"):
        ids = [candidate.id for candidate in fused]
        units = tx.recall.units(task.bank.bank_id, ids, task.sight.fact_types, task.sight.tags, task.query.times)
    _place_in_time(task, fused, units)
    return Pool(arms, fused, units, _added(found.seconds, {} if expansion is None else expansion.seconds))


def _candidate_query(task: Task, vector: array[float] | None) -> CandidateQuery:
    query, settings = task.query, task.settings
    floor = query.min_scores.semantic
    asked = tuple(dict.fromkeys(terms(task.text)))[:_MOST_ASKED_TERMS] if task.config.enable_text_search else ()
    return CandidateQuery(
        bank_id=task.bank.bank_id,
        fact_types=task.fact_types,
        tags=task.sight.tags,
        limit=task.limit,
        census=task.census,
        vector=vector,
        min_similarity=settings.hindsight_api_semantic_min_similarity if floor is None else floor,
        min_keyword=query.min_scores.keyword or 0.0,
        terms=asked,
        exact_limit=settings.hindsight_api_recall_exact_scan_limit,
        most_terms=settings.hindsight_api_bm25_max_query_terms,
        times=query.times,
        windows=tuple((window.start, window.end) for window in task.windows),
        min_dated_similarity=settings.hindsight_api_temporal_semantic_min_similarity,
        is_timed=query.with_trace,
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
                timeout_ms=round(settings.hindsight_api_link_expansion_timeout * 1_000),
                is_timed=task.query.with_trace,
            )
        )
    if expansion is None:
        task.trace.degraded += [arm for arm, began in (("graph", seeds), ("temporal", started)) if began]
    return expansion


def _has_room(task: Task, found: Candidates) -> bool:
    """Whether what only the graph leads to can come into the ranking, where it stands last; a trace shows it anyway."""
    arms = [hits for by_type in (found.semantic, found.keyword) for hits in (by_type or {}).values()]
    return task.query.with_trace or not is_full(arms, MOST_RANKED)


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
    """Gives what other arms found its proximity too: the temporal arm names only a few of a window's memories.

    On dialogue this was worth more than the arm itself (MRR of questions that name a time 0.404 without, 0.480 with).
    """
    for candidate in fused if task.windows else ():
        unit = units.get(candidate.id)
        if candidate.proximity is None and unit is not None:
            dates = Dates(unit.occurred_start, unit.occurred_end, unit.mentioned_at)
            candidate.proximity = proximity_inside(dates, task.windows)


def _added(
    first: Mapping[tuple[str, str], float], second: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    return {key: first.get(key, 0.0) + second.get(key, 0.0) for key in {**first, **second}}
