"""Random filters and keys: recall returns exactly what a plain reading of the rules allows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from hindsight_aws.access import sight
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import FACT_TYPES, Principal
from hindsight_aws.model.tags import AllOf, AnyOf, Not, TagFilter, TagGroup, TagLeaf, TagsMatch
from hindsight_aws.recall import Budget, RecallQuery, TimeFilter
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.recalling import NORTH, Asking
from tests.support.units import Unit, insert_units, make_bank

_TAGS = ("a", "b", "c", "user:1", "user:2")
_QUESTIONS = ("tea", "tea last week", "tea before March 2026", "tea on 2026-03-05 and yesterday")
_UNITS = 50
_FILTERS_OF_A_BANK = 300
_NOW = datetime(2026, 3, 12, tzinfo=UTC)


def test_recall_agrees_with_a_plain_reading_of_the_rules(
    database: Database, tenant: TenantId, read_store: PostgresStore, dose: str, seed: int
) -> None:
    for number in range(1 if dose == "small" else 34):
        rng = random.Random(f"{seed} {number}")
        bank = make_bank(database.admin_url, tenant, f"bank {number}")
        units = [_unit(rng, place) for place in range(_UNITS)]
        insert_units(database.admin_url, tenant, bank, units)
        changed = _changed(database, rng, units)

        for place in range(_FILTERS_OF_A_BANK):
            principal, query = _principal(rng, tenant), _query(rng)
            answer = Asking(read_store, tenant, principal).ask(query, f"bank {number}")
            found = {result.unit.id for result in answer.results}

            seen = sight(principal, query.fact_types, query.tags)
            expected = {
                unit.id
                for unit in units
                if seen.sees(unit.fact_type, unit.tags) and _is_kept(unit, changed[unit.id], query.times)
            }
            assert found == expected, f"bank {number}, filter {place} of seed {seed}: {principal} {query}"


def _query(rng: random.Random) -> RecallQuery:
    types = tuple(rng.sample(sorted(FACT_TYPES), rng.randint(1, 3)))
    budget = rng.choice(list(Budget))
    return RecallQuery(
        rng.choice(_QUESTIONS), types, budget, 100_000, _filter(rng), _NOW, with_entities=False, times=_times(rng)
    )


def _unit(rng: random.Random, number: int) -> Unit:
    tags = tuple(rng.sample(_TAGS, rng.choice((0, 0, 1, 1, 2, 3))))
    vector = NORTH if rng.random() < 0.7 else None
    text = f"tea {number}" if vector is None or rng.random() < 0.5 else f"milk {number}"
    start, told = (_day(rng) if rng.random() < 0.6 else None for _ in range(2))
    end = None if rng.random() < 0.5 else (start or _day(rng)) + timedelta(days=rng.choice((0, 1, 9)))
    return Unit(
        text,
        rng.choice(sorted(FACT_TYPES)),
        vector=vector,
        tags=tags,
        occurred_start=start,
        occurred_end=end,
        mentioned_at=told,
        entities=tuple(rng.sample(("Mara", "Oslo", "Kettle"), rng.randint(0, 2))),
    )


def _day(rng: random.Random) -> datetime:
    return datetime(2026, 3, rng.randint(1, 20), tzinfo=UTC)


def _changed(database: Database, rng: random.Random, units: Sequence[Unit]) -> dict[UUID, datetime]:
    """When each memory was last changed."""
    changed = {unit.id: _day(rng) for unit in units}
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.memory_units AS u SET updated_at = c.at "
            "FROM unnest(%s::uuid[], %s::timestamptz[]) AS c (id, at) WHERE u.id = c.id",
            (list(changed), list(changed.values())),
        )
    return changed


def _times(rng: random.Random) -> TimeFilter:
    first = _day(rng)
    return TimeFilter(
        updated_after=_day(rng) if rng.random() < 0.3 else None,
        updated_before=_day(rng) if rng.random() < 0.3 else None,
        only_between=(first, first + timedelta(days=rng.randint(0, 9))) if rng.random() < 0.4 else None,
    )


def _is_kept(unit: Unit, changed: datetime, times: TimeFilter) -> bool:
    after, before = times.updated_after, times.updated_before
    if (after is not None and changed <= after) or (before is not None and changed >= before):
        return False
    if times.only_between is None:
        return True
    first, last = times.only_between
    known = [moment for moment in (unit.occurred_start, unit.occurred_end) if moment is not None]
    happened = bool(known) and min(known) <= last and max(known) >= first
    return happened or (unit.mentioned_at is not None and first <= unit.mentioned_at <= last)


def _principal(rng: random.Random, tenant: TenantId) -> Principal:
    scopes = frozenset(frozenset(rng.sample(_TAGS, rng.randint(0, 2))) for _ in range(rng.randint(1, 3)))
    return Principal(
        tenant,
        "me",
        forced_tags=_group(rng, 2) if rng.random() < 0.4 else None,
        fact_types=frozenset(rng.sample(sorted(FACT_TYPES), 2)) if rng.random() < 0.3 else None,
        exact_scopes=scopes if rng.random() < 0.2 else None,
    )


def _filter(rng: random.Random) -> TagFilter:
    if rng.random() < 0.4:
        return TagFilter.flat(rng.sample(_TAGS, rng.randint(0, 3)), rng.choice(list(TagsMatch)))
    return TagFilter(tuple(_group(rng, 3) for _ in range(rng.randint(0, 2))))


def _group(rng: random.Random, depth: int) -> TagGroup:
    kind = rng.choice(("leaf", "leaf", "and", "or", "not")) if depth else "leaf"
    match kind:
        case "and":
            return AllOf(tuple(_group(rng, depth - 1) for _ in range(rng.randint(1, 3))))
        case "or":
            return AnyOf(tuple(_group(rng, depth - 1) for _ in range(rng.randint(1, 3))))
        case "not":
            return Not(_group(rng, depth - 1))
        case _:
            return TagLeaf(frozenset(rng.sample(_TAGS, rng.randint(1, 3))), rng.choice(list(TagsMatch)))
