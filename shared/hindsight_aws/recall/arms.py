"""Asks the arms one after the other, the cheapest first, within the time that is left.

Called by recall/retrieval.py for a recall that has a deadline; calls ports/recall.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.ports.recall import CandidateQuery, Candidates, DatedHit, Hits
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.deadline import Deadline
from hindsight_aws.recall.task import Task
from hindsight_aws.recall.when.window import Window


def arms_in_use(config: BankConfig, windows: Sequence[Window]) -> tuple[str, ...]:
    """The arms that a recall of this bank about this time asks, the cheapest first."""
    in_use = {
        "keyword": config.enable_text_search,
        "semantic": True,
        "temporal": config.enable_temporal_retrieval and bool(windows),
        "graph": config.enable_graph_retrieval,
    }
    return tuple(arm for arm, is_used in in_use.items() if is_used)


def candidates_in_time(tx: Transaction, query: CandidateQuery, deadline: Deadline) -> Candidates:
    """What the arms find that end in time; the others are noted as cut and come out empty."""
    types = [fact_type for fact_type in query.fact_types if fact_type in query.census.sizes]
    without = replace(query, vector=None, terms=(), windows=())
    has_vector = query.vector is not None
    keyword: Mapping[str, Hits] | None = None
    semantic: Mapping[str, Hits] | None = None
    dated: Mapping[str, Sequence[DatedHit]] | None = None
    seconds: dict[tuple[str, str], float] = {}
    if query.terms:
        found = _asked(tx, replace(without, terms=query.terms), "keyword", len(types), deadline)
        keyword, seconds = found.keyword or {}, {**found.seconds}
    if has_vector:
        found = _asked(tx, replace(without, vector=query.vector), "semantic", len(types), deadline)
        semantic, seconds = found.semantic or {}, {**seconds, **found.seconds}
    if has_vector and query.windows:
        asked = replace(without, vector=query.vector, windows=query.windows, with_semantic=False)
        found = _asked(tx, asked, "temporal", len(types), deadline)
        dated, seconds = found.dated or {}, {**seconds, **found.seconds}
    return Candidates(semantic, keyword, dated, seconds)


def rarity_in_time(tx: Transaction, task: Task) -> Mapping[str, int]:
    """In how many of the bank's memories each term asked for stands; of none when there is no time to count."""
    types = task.sight.fact_types
    if not task.terms:
        return {}
    if task.deadline is None:
        return tx.recall.rarity(task.bank.bank_id, types, task.terms)
    if "keyword" not in task.deadline.cut and task.deadline.to_look_ms:
        try:
            with tx.recall.within(task.deadline.to_look_ms):
                return tx.recall.rarity(task.bank.bank_id, types, task.terms)
        except DatabaseTooSlow:
            pass
    task.deadline.give_up("keyword")
    return {}


def _asked(tx: Transaction, query: CandidateQuery, arm: str, statements: int, deadline: Deadline) -> Candidates:
    time_for_each = deadline.to_look_ms // max(statements, 1)
    if time_for_each:
        try:
            with tx.recall.within(time_for_each):
                return tx.recall.candidates(query)
        except DatabaseTooSlow:
            pass
    deadline.give_up(arm)
    return Candidates(None, None)
