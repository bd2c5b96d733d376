"""From rows of recall's statements to its models.  Called by store/recall.py and store/expansion.py."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import NamedEntity, Quote, RecalledUnit
from hindsight_aws.ports.recall import DatedHit, Dates, LinkedHit

Row = tuple[Any, ...]


def unit(row: Row) -> RecalledUnit:
    """A memory."""
    return RecalledUnit(
        id=row[0],
        fact_type=row[1],
        text=row[2],
        context=row[3],
        occurred_start=row[4],
        occurred_end=row[5],
        mentioned_at=row[6],
        metadata=row[7] or {},
        tags=tuple(row[8]),
        proof_count=row[9],
        document_id=row[10],
        document=row[11],
        chunk_index=row[12],
        ordinal=row[13],
    )


def dated(row: Row) -> DatedHit:
    """A memory found by its date."""
    return DatedHit(row[0], row[1], Dates(*row[2:5]))


def linked(row: Row) -> LinkedHit:
    """A memory found over a link."""
    return LinkedHit(row[0], row[1], row[2], Dates(*row[3:6]))


def sources(rows: Sequence[Row]) -> tuple[dict[UnitId, tuple[UnitId, ...]], int]:
    """The visible sources by observation, and how many distinct ones are not visible."""
    visible: defaultdict[UnitId, list[UnitId]] = defaultdict(list)
    hidden: set[UnitId] = set()
    for observation_id, fact_id, is_visible in rows:
        if is_visible:
            visible[observation_id].append(fact_id)
        else:
            hidden.add(fact_id)
    return {observation_id: tuple(facts) for observation_id, facts in visible.items()}, len(hidden)


def quotes(rows: Sequence[Row]) -> dict[UnitId, tuple[Quote, ...]]:
    """The quotes by observation."""
    found: defaultdict[UnitId, list[Quote]] = defaultdict(list)
    for observation_id, fact_id, text, origin in rows:
        found[observation_id].append(Quote(fact_id, text, origin))
    return {observation_id: tuple(each) for observation_id, each in found.items()}


def entities(rows: Sequence[Row], units: Sequence[UnitId]) -> dict[UnitId, tuple[NamedEntity, ...]]:
    """The entities by memory; a row has an entity and the places, counted from 1, of the memories that have it."""
    found: defaultdict[int, list[NamedEntity]] = defaultdict(list)
    for entity_id, name, places in rows:
        entity = NamedEntity(entity_id, name)
        for place in places:
            found[place].append(entity)
    return {units[place - 1]: tuple(each) for place, each in found.items()}
