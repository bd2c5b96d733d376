"""Reads of a past moment in Postgres.

Made by store/transaction.py; keeps ports/past.PastReads; calls sql/past.sql.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import Quote
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.past import PastQuery, Support, Then, Wording
from hindsight_aws.store import recall_rows as rows_of
from hindsight_aws.store.queries import queries
from hindsight_aws.store.recall_filters import gates, uuids
from hindsight_aws.store.session import Session
from hindsight_aws.store.tag_predicate import predicate_of
from hindsight_aws.store.vectors import half_vector

_SQL = queries("past")
_RAW = frozenset({"world", "experience"})


class PostgresPastReads:
    """Reads of the past in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def wordings(self, query: PastQuery, vector: array[float] | None) -> Sequence[Wording]:
        asked = {
            **_asked(query),
            "at_most": query.at_most,
            "embedding": None if vector is None else half_vector(vector),
        }
        raw = sorted(query.fact_types & _RAW)
        facts = observations = None
        with self._session.pipeline():
            if raw:
                facts = self._session.send(_SQL["former_facts"], **{**asked, "fact_types": raw})
            if "observation" in query.fact_types:
                observations = self._session.send(_SQL["former_wordings"], **asked)
        return [Wording(*row) for found in (facts, observations) if found is not None for row in found.fetchall()]

    def units(self, query: PastQuery, ids: Sequence[UnitId]) -> Then:
        if not ids:
            return Then({}, {})
        rows = self._session.tuples(_SQL["units_then"], ids=uuids(ids), **_asked(query))
        return Then(
            {row[0]: rows_of.unit(row) for row in rows}, {row[0]: row[-1] for row in rows if row[-1] is not None}
        )

    def support(
        self, query: PastQuery, revisions: Mapping[UnitId, UUID], source_types: frozenset[str], source_tags: TagFilter
    ) -> Support:
        if not revisions:
            return Support({}, {}, 0)
        visible = predicate_of(source_tags)
        rows = self._session.tuples(
            _SQL["support_then"],
            bank_id=query.bank_id,
            revisions=list(revisions.values()),
            source_types=sorted(source_types),
            source_any_of=visible.any_of,
            source_predicate=visible.predicate,
            source_variables=visible.variables,
        )
        sources_of, hidden = rows_of.sources([(row[0], row[1], row[4]) for row in rows])
        quotes: defaultdict[UnitId, list[Quote]] = defaultdict(list)
        for observation_id, fact_id, quote, origin, is_visible in rows:
            if is_visible and quote is not None:
                quotes[observation_id].append(Quote(fact_id, quote, origin))
        return Support(sources_of, {of: tuple(each) for of, each in quotes.items()}, hidden)


def _asked(query: PastQuery) -> dict[str, object]:
    return {
        "bank_id": query.bank_id,
        "fact_types": sorted(query.fact_types),
        **gates(predicate_of(query.tags), query.times),
    }
