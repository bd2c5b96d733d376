"""Every way that recall filters by tags in SQL, each against the truth table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pgvector import HalfVector

from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.store.postgres import PostgresStore, PostgresTransaction
from hindsight_aws.store.queries import queries
from hindsight_aws.store.tag_predicate import predicate_of
from tests.support.database import Database, make_tenant
from tests.support.recalling import NORTH
from tests.support.tags_truth import Truth, truths
from tests.support.units import Unit, insert_units, make_bank, padded

_SQL = queries("recall")
_ITEMS: tuple[tuple[str, ...], ...] = ((), ("a",), ("b",), ("a", "b"), ("a", "c"), ("b", "a", "c"), ("A",))


@dataclass(frozen=True)
class _Shelf:
    """One memory per set of tags, in an open transaction of the role that reads."""

    tx: PostgresTransaction
    bank: BankId
    tags_of: dict[object, tuple[str, ...]]

    def run(self, name: str, **params: object) -> set[tuple[str, ...]]:
        rows = self.tx.session.tuples(_SQL[name], bank_id=self.bank, **params)
        return {self.tags_of[row[0]] for row in rows}


@pytest.fixture(scope="module")
def shelf(module_database: Database) -> Iterator[_Shelf]:
    tenant = make_tenant(module_database)
    bank = make_bank(module_database.admin_url, tenant)
    units = [Unit("tea", vector=NORTH, tags=tags) for tags in _ITEMS]
    insert_units(module_database.admin_url, tenant, bank, units)
    store = PostgresStore(lambda: module_database.read_url)
    with store.transaction(tenant) as tx:
        yield _Shelf(tx, bank, {unit.id: unit.tags for unit in units})
    store.close()


def _exact(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.run("semantic_exact", fact_type="world", **_near(), **predicate_of(tags).params())


def _indexed(shelf: _Shelf, tags: TagFilter) -> set[tuple[str, ...]]:
    return shelf.run("semantic_index_world", **_near(), **predicate_of(tags).params())


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
        "flat": 0.5,
        "slope": 0.4,
        "least": 0.0,
        "at_most": 50,
    }


@pytest.mark.parametrize("arm", [_exact, _indexed, _tagged, _keyword, _keyword_by_anchor, _last_gate])
@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_an_arm_matches_what_the_truth_table_says(
    shelf: _Shelf, truth: Truth, arm: Callable[[_Shelf, TagFilter], set[tuple[str, ...]]]
) -> None:
    expected = {item for item, match in truth.matches if match}

    assert arm(shelf, truth.tags) == expected
