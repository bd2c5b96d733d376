"""Recall's step beyond what was found, over entities and links, in one round trip.

Called by store/recall.py; calls sql/expansion.sql, within a mark of the transaction.  Every reading is bounded before
it is joined: an entity that half the bank mentions costs no more than any other, and counts little.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from hindsight_aws.ports.recall import Expansion, ExpansionQuery
from hindsight_aws.store.queries import queries
from hindsight_aws.store.recall_filters import gates, uuids
from hindsight_aws.store.recall_rows import linked
from hindsight_aws.store.session import Session
from hindsight_aws.store.stopwatch import Stopwatch
from hindsight_aws.store.tag_predicate import predicate_of
from hindsight_aws.store.vectors import half_vector

_SQL = queries("expansion")
_TRANSACTION = queries("transaction")
_Cursor = psycopg.Cursor[tuple[Any, ...]]

# An entity of up to so many memories says that two of them belong together; one of more says it less, in proportion.
_COMMON: Final = 50
_MOST_ENTITIES: Final = 20
# Memories of an entity, or links of a memory, that are looked at for those that pass the filters.
_MOST_READ: Final = 1_000
# Facts beneath an observation that lead on, the newest.
_MOST_SOURCES: Final = 50
_MOST_LINKS, _LEAST_WEIGHT = 10, 0.1


def expand(session: Session, query: ExpansionQuery) -> Expansion | None:
    """What lies one step further; None when a statement ran out of time, the transaction being as it was before."""
    near: dict[str, _Cursor] = {}
    led_to: dict[str, _Cursor] = {}
    watch = Stopwatch(session, query.is_timed)
    try:
        with session.pipeline():
            session.send(_TRANSACTION["mark"])
            session.send(_SQL["bound"], timeout_ms=str(query.timeout_ms))
            watch.lap()
            for fact_type in query.seeds:
                near[fact_type] = _near(session, query, fact_type)
                watch.lap("graph", fact_type)
            for fact_type in query.entries:
                led_to[fact_type] = _linked(session, query, fact_type)
                watch.lap("temporal", fact_type)
            session.send(_TRANSACTION["back_to_mark"])
    except psycopg.errors.QueryCanceled:
        session.cut()
        session.send(_TRANSACTION["back_to_mark"])
        return None
    return Expansion(
        {fact_type: cursor.fetchall() for fact_type, cursor in near.items()},
        {fact_type: [linked(row) for row in cursor.fetchall()] for fact_type, cursor in led_to.items()},
        watch.seconds(),
    )


def _near(session: Session, query: ExpansionQuery, fact_type: str) -> _Cursor:
    params: dict[str, object] = {
        "bank_id": query.bank_id,
        "seeds": uuids(query.seeds[fact_type]),
        "common": _COMMON,
        "most_entities": _MOST_ENTITIES,
        "most_read": _MOST_READ,
        "per_entity": query.per_entity,
        "at_most": query.limit,
        **gates(predicate_of(query.tags), query.times),
    }
    if fact_type != "observation":
        return session.send(_SQL["near"], fact_type=fact_type, **params)
    visible = predicate_of(query.source_tags)
    return session.send(
        _SQL["near_observations"],
        most_sources=_MOST_SOURCES,
        source_types=sorted(query.source_types),
        source_any_of=visible.any_of,
        source_predicate=visible.predicate,
        source_variables=visible.variables,
        **params,
    )


def _linked(session: Session, query: ExpansionQuery, fact_type: str) -> _Cursor:
    return session.send(
        _SQL["linked"],
        bank_id=query.bank_id,
        fact_type=fact_type,
        entries=uuids(query.entries[fact_type]),
        embedding=half_vector(query.vector),
        farthest=1 - query.min_similarity,
        least_weight=_LEAST_WEIGHT,
        most_links=_MOST_LINKS,
        most_read=_MOST_READ,
        **gates(predicate_of(query.tags), query.times),
    )
