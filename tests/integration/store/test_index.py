"""Facts and observations are found by the same index rows, and weighed by the same counters."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.store.index import COUNTER_SHARDS, Indexed, PostgresIndex, added
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import Query
from tests.support.database import Database
from tests.support.units import Unit, insert_units, make_bank

_COUNTERS = Query(
    "counters",
    "",
    b"SELECT fact_type, sum(units)::bigint, sum(terms)::bigint FROM bank_counters "
    b"WHERE tenant_id = %(tenant_id)s GROUP BY fact_type ORDER BY fact_type",
)
_SHARDS = Query("shards", "", b"SELECT DISTINCT shard FROM bank_counters WHERE tenant_id = %(tenant_id)s")
_TERMS = Query(
    "terms",
    "",
    b"SELECT fact_type, term, tf, length FROM unit_terms WHERE tenant_id = %(tenant_id)s ORDER BY fact_type, term",
)
_TAGS = Query("tags", "", b"SELECT tag FROM unit_tags WHERE tenant_id = %(tenant_id)s ORDER BY tag")


@pytest.fixture
def bank(database: Database, tenant: TenantId) -> BankId:
    return make_bank(database.admin_url, tenant)


def _bare(database: Database, tenant: TenantId, bank: BankId, *fact_types: str) -> list[Unit]:
    """Memories whose texts hold no term, so that nothing of theirs is in the index yet."""
    units = [Unit("...", fact_type) for fact_type in fact_types]
    insert_units(database.admin_url, tenant, bank, units)
    return units


def test_each_term_and_tag_is_a_row_of_its_memory(
    database: Database, store: PostgresStore, tenant: TenantId, bank: BankId
) -> None:
    fact, observation = _bare(database, tenant, bank, "world", "observation")

    with store.transaction(tenant) as tx:
        PostgresIndex(tx.session).add(
            bank,
            [
                Indexed(fact.id, "world", {"rome": 2, "red": 1}, ("user:a", "team")),
                Indexed(observation.id, "observation", {"rome": 1}),
            ],
        )

    with store.transaction(tenant) as tx:
        terms, tags = tx.session.tuples(_TERMS), tx.session.tuples(_TAGS)
    assert terms == [("observation", "rome", 1, 1), ("world", "red", 1, 3), ("world", "rome", 2, 3)]
    assert tags == [("team",), ("user:a",)]


def test_new_words_take_the_place_of_old_ones(
    database: Database, store: PostgresStore, tenant: TenantId, bank: BankId
) -> None:
    (observation,) = _bare(database, tenant, bank, "observation")
    with store.transaction(tenant) as tx:
        PostgresIndex(tx.session).add(bank, [Indexed(observation.id, "observation", {"old": 1}, ("user:a",))])

    with store.transaction(tenant) as tx:
        index = PostgresIndex(tx.session)
        index.drop_terms(bank, [observation.id])
        index.add(bank, [Indexed(observation.id, "observation", {"new": 1})])

    with store.transaction(tenant) as tx:
        assert tx.session.tuples(_TERMS) == [("observation", "new", 1, 1)]
        assert tx.session.tuples(_TAGS) == [("user:a",)]


def test_counters_add_up_over_their_shards(store: PostgresStore, tenant: TenantId, bank: BankId) -> None:
    come = [Indexed(uuid4(), "world", {"a": 2, "b": 1}), Indexed(uuid4(), "world", {"c": 1})]
    come.append(Indexed(uuid4(), "experience", {"d": 5}))

    for _ in range(20):
        with store.transaction(tenant) as tx:
            PostgresIndex(tx.session).count(bank, added(come))
    with store.transaction(tenant) as tx:
        PostgresIndex(tx.session).count(bank, {"world": (-40, -79)})
        PostgresIndex(tx.session).count(bank, {})

    with store.transaction(tenant) as tx:
        assert tx.session.tuples(_COUNTERS) == [("experience", 20, 100), ("world", 0, 1)]
        assert {shard for (shard,) in tx.session.tuples(_SHARDS)} <= set(range(COUNTER_SHARDS))


def test_whoever_counted_keeps_no_other_writer_waiting_until_the_commit(
    store: PostgresStore, database: Database, tenant: TenantId, bank: BankId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_aws.store.index.COUNTER_SHARDS", 1)
    other = PostgresStore(lambda: database.write_url, connect_for_s=30.0, statement_timeout_ms=20_000)

    with store.transaction(tenant) as tx:
        PostgresIndex(tx.session).count(bank, {"world": (1, 1)})
        with other.transaction(tenant) as meanwhile:
            PostgresIndex(meanwhile.session).count(bank, {"experience": (1, 1), "world": (1, 1)})
        PostgresIndex(tx.session).count(bank, {"experience": (1, 1), "world": (1, 1)})
    other.close()

    with store.transaction(tenant) as tx:
        assert tx.session.tuples(_COUNTERS) == [("experience", 2, 2), ("world", 3, 3)]
