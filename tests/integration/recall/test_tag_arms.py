"""Every way that recall filters by tags in SQL, each against the truth table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest
from pgvector import HalfVector

from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import NO_BOUNDS
from hindsight_aws.store.postgres import PostgresStore, PostgresTransaction
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.recall_filters import gates, uuids
from hindsight_aws.store.tag_predicate import predicate_of
from tests.support.database import Database, make_tenant
from tests.support.recalling import NORTH
from tests.support.tags_truth import Truth, truths
from tests.support.units import Unit, insert_links, insert_units, make_bank, padded

_SQL = queries("recall")
_EXPANSION = queries("expansion")
_NOON = datetime(2026, 3, 11, 12, tzinfo=UTC)
_HUB, _BRIDGE, _ABOVE = (UnitId(UUID(int=number)) for number in (1, 2, 3))
_STEP: dict[str, object] = {"common": 50, "most_entities": 20, "most_read": 100, "per_entity": 100, "at_most": 50}
_ANY_TIME = gates(predicate_of(TagFilter()), NO_BOUNDS)
_ITEMS: tuple[tuple[str, ...], ...] = ((), ("a",), ("b",), ("a", "b"), ("a", "c"), ("b", "a", "c"), ("A",))


@dataclass(frozen=True)
class _Shelf:
    """One memory per set of tags, in an open transaction of the role that reads."""

    tx: PostgresTransaction
    bank: BankId
    tags_of: dict[object, tuple[str, ...]]

    def run(self, name: str, **params: object) -> set[tuple[str, ...]]:
        """The tags of what a statement of recall finds."""
        return self._run(_SQL[name], params)

    def expand(self, name: str, tags: TagFilter, **params: object) -> set[tuple[str, ...]]:
        """The tags of what a statement leads to from the hub, which leads to every memory."""
        return self._run(_EXPANSION[name], {**_STEP, **predicate_of(tags).params(), **params})

    def _run(self, query: Query, params: dict[str, object]) -> set[tuple[str, ...]]:
        rows = self.tx.session.tuples(query, bank_id=self.bank, **{**_ANY_TIME, **params})
        return {self.tags_of[row[0]] for row in rows}


@pytest.fixture(scope="module")
def shelf(module_database: Database) -> Iterator[_Shelf]:
    tenant = make_tenant(module_database)
    bank = make_bank(module_database.admin_url, tenant)
    units = [Unit("tea", vector=NORTH, tags=tags, mentioned_at=_NOON, entities=("Tea",)) for tags in _ITEMS]
    observations = [Unit("tea", "observation", tags=tags, sources=(_BRIDGE,)) for tags in _ITEMS]
    hub = Unit("hub", "experience", id=_HUB, entities=("Tea",))
    bridge = Unit("bridge", "experience", id=_BRIDGE, entities=("Tea",))
    above = Unit("above", "observation", id=_ABOVE, tags=("above",), sources=(_HUB,))
    insert_units(module_database.admin_url, tenant, bank, [hub, bridge, *units, above, *observations])
    links = [(_HUB, unit.id, "causes", 0.9) for unit in units]
    insert_links(module_database.admin_url, tenant, bank, links)
    store = PostgresStore(lambda: module_database.read_url)
    with store.transaction(tenant) as tx:
        yield _Shelf(tx, bank, {unit.id: unit.tags for unit in [*units, *observations]})
    store.close()


def _exact(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.run("semantic_exact", fact_type="world", **_near(), **predicate_of(tags).params())


def _indexed(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.run("semantic_index_world", fact_type="world", **_near(), **predicate_of(tags).params())


def _tagged(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    predicate = predicate_of(tags)
    if not predicate.anchors:
        return _exact(shelf, tags)
    found = [
        shelf.run(
            "semantic_tagged",
            fact_type="world",
            anchor=sorted(anchor.tags),
            with_untagged=anchor.untagged,
            **_near(),
            **predicate.params(),
        )
        for anchor in predicate.anchors
    ]
    assert all(each == found[0] for each in found)
    return found[0]


def _keyword(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.run("keyword", anchor=None, with_untagged=False, **_words(), **predicate_of(tags).params())


def _keyword_by_anchor(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    predicate = predicate_of(tags)
    if not predicate.anchors:
        return _keyword(shelf, tags)
    anchor = predicate.anchors[0]
    found = {"anchor": sorted(anchor.tags), "with_untagged": anchor.untagged}
    return shelf.run("keyword", **found, **_words(), **predicate.params())


def _dated(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    near = {"embedding": HalfVector(padded(NORTH)), "farthest_dated": 2.0, "at_most": 50, "most_read": 50}
    asked = {"starts": [_NOON], "ends": [_NOON]}
    return shelf.run("dated", fact_type="world", **near, **asked, **predicate_of(tags).params())


def _near_by_graph(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.expand("near", tags, fact_type="world", seeds=uuids([_HUB]))


def _near_observations(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    every = {"source_any_of": None, "source_predicate": None, "source_variables": None, "source_types": ["experience"]}
    return shelf.expand("near_observations", tags, seeds=uuids([_ABOVE]), most_sources=50, **every)


def _linked(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    near = {"embedding": HalfVector(padded(NORTH)), "farthest": 2.0, "least_weight": 0.1, "most_links": 50}
    return shelf.expand("linked", tags, fact_type="world", entries=uuids([_HUB]), **near)


def _last_gate(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    ids = [UnitId(id_) for id_ in shelf.tags_of]  # type: ignore[arg-type]  # the shelf's ids are UUIDs
    units = shelf.tx.recall.units(shelf.bank, ids, frozenset({"world"}), tags)
    return {shelf.tags_of[id_] for id_ in units}


def _near() -> dict[str, object]:
    return {"embedding": HalfVector(padded(NORTH)), "farthest": 2.0, "at_most": 50}


def _words() -> dict[str, object]:
    return {
        "fact_type": "world",
        "fact_types": ["world"],
        "terms": ["tea"],
        "units": 7,
        "most_terms": 16,
        "count_cap": 100,
        "postings": 100,
        "k1": 0.9,
        "rarity": 1.5,
        "flat": 0.5,
        "slope": 0.4,
        "least": 0.0,
        "at_most": 50,
    }


@pytest.mark.parametrize(
    "arm",
    [
        _exact,
        _indexed,
        _tagged,
        _keyword,
        _keyword_by_anchor,
        _dated,
        _near_by_graph,
        _near_observations,
        _linked,
        _last_gate,
    ],
)
@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_an_arm_matches_what_the_truth_table_says(
    shelf: _Shelf, truth: Truth, arm: Callable[[_Shelf, TagFilter], set[tuple[str, ...]]]
) -> None:
    expected = {item for item, match in truth.matches if match}

    assert arm(shelf, truth.tags) == expected
