"""What was believed at a past moment, beside what is believed in the same words still.

Called by recall/retrieval.py and recall/answer.py; calls ports/past.py.  What stands unchanged is found by the arms,
whose filter the moment is part of; words that are no longer current are read one by one, the latest up to a bound
(docs/adr/0014).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.past import PastQuery, Then, Wording
from hindsight_aws.ports.recall import Beneath, BeneathQuery, Hits
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.arms import rarity_in_time
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.words import Collection, keyword_hits

_ByType = Mapping[str, Hits]


@dataclass(frozen=True, slots=True)
class Former:
    """Hits among words that are no longer current, by arm and fact type.

    `withheld` counts hits that this caller may not see: the words of former times lie beneath an observation.
    """

    semantic: _ByType = field(default_factory=dict)
    keyword: _ByType = field(default_factory=dict)
    withheld: int = 0
    is_complete: bool = True


def past_query(task: Task) -> PastQuery:
    """The task's moment and filters, as the store is asked."""
    return PastQuery(task.bank.bank_id, task.sight.fact_types, task.sight.tags, task.query.times)


def former_hits(tx: Transaction, task: Task, vector: array[float] | None) -> Former:
    """What the question finds among the words of then that are no longer current."""
    query = past_query(task)
    with task.trace.phase("read_former_words"):
        wordings = _wordings(tx, task, query, vector)
    if wordings is None:
        return Former(is_complete=False)
    observations = sum(wording.fact_type == "observation" for wording in wordings)
    is_complete = max(observations, len(wordings) - observations) < query.at_most
    near, worded = _near(task, wordings), _by_words(tx, task, wordings)
    if task.sight.sees_beneath:
        return Former(_by_type(wordings, near), _by_type(wordings, worded), 0, is_complete)
    return Former(withheld=len({unit_id for unit_id, _ in (*near, *worded)}), is_complete=is_complete)


def units_then(tx: Transaction, task: Task, ids: Sequence[UnitId]) -> Then:
    """The rows of these memories as they were, as far as they were believed and pass."""
    return tx.past.units(past_query(task), ids)


def beneath_then(tx: Transaction, task: Task, revisions: Mapping[UnitId, UUID], asked: BeneathQuery) -> Beneath:
    """What lay beneath an answer: what observations rested on then, and the entities and chunks of facts.

    Nothing says how current an observation is: that is not known of the past.
    """
    query = past_query(task)
    raw = [unit_id for unit_id in asked.units if unit_id not in revisions]
    of_facts = tx.recall.beneath(
        BeneathQuery(
            bank_id=asked.bank_id,
            units=raw,
            source_types=asked.source_types,
            source_tags=asked.source_tags,
            with_entities=asked.with_entities,
            chunk_units=[unit_id for unit_id in asked.chunk_units if unit_id not in revisions],
            chunk_characters=asked.chunk_characters,
            chunk_own=asked.chunk_own,
        )
    )
    shown = {unit_id: revisions[unit_id] for unit_id in asked.units if unit_id in revisions}
    if not (shown and (asked.with_evidence or asked.with_quotes)):
        return of_facts
    support = tx.past.support(query, shown, asked.source_types, asked.source_tags)
    facts = {source for sources in support.sources_of.values() for source in sources}
    sources = PastQuery(query.bank_id, asked.source_types, asked.source_tags, query.times)
    return Beneath(
        entities_of=of_facts.entities_of,
        sources_of=support.sources_of,
        hidden=support.hidden,
        facts=tx.past.units(sources, sorted(facts)).units if asked.with_sources else {},
        chunks=of_facts.chunks,
        quotes_of=support.quotes_of,
    )


def _wordings(tx: Transaction, task: Task, query: PastQuery, vector: array[float] | None) -> Sequence[Wording] | None:
    """The words of then that are no longer current; None when the time did not suffice."""
    if task.deadline is None:
        return tx.past.wordings(query, vector)
    try:
        with tx.recall.within(task.deadline.to_look_ms // 2):
            return tx.past.wordings(query, vector)
    except DatabaseTooSlow:
        task.deadline.give_up("former_wordings")
        return None


def _near(task: Task, wordings: Sequence[Wording]) -> Hits:
    floor = task.query.min_scores.semantic
    least = task.settings.hindsight_api_semantic_min_similarity if floor is None else floor
    near = [(each.id, each.similarity) for each in wordings if each.similarity is not None and each.similarity >= least]
    return sorted(near, key=lambda hit: (-hit[1], hit[0]))[: task.limit]


def _by_words(tx: Transaction, task: Task, wordings: Sequence[Wording]) -> Hits:
    if not task.terms or not wordings:
        return []
    sizes = [size for of, size in task.census.sizes.items() if of in task.sight.fact_types]
    known = Collection(
        units=sum(size.units for size in sizes),
        terms=sum(size.terms for size in sizes),
        counts=rarity_in_time(tx, task),
    )
    texts = {wording.id: wording.text for wording in wordings}
    found = keyword_hits(texts, task.terms, known, task.settings.hindsight_api_bm25_max_query_terms)
    least = task.query.min_scores.keyword or 0.0
    return [hit for hit in found if hit[1] >= least][: task.limit]


def _by_type(wordings: Sequence[Wording], hits: Hits) -> _ByType:
    type_of = {wording.id: wording.fact_type for wording in wordings}
    found: defaultdict[str, list[tuple[UnitId, float]]] = defaultdict(list)
    for hit in hits:
        found[type_of[hit[0]]].append(hit)
    return found
