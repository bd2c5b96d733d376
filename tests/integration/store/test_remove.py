"""The one way in which facts leave."""

from __future__ import annotations

from uuid import uuid4

from hindsight_aws.model.ids import TenantId, UnitId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database, make_tenant
from tests.support.seed import fingerprint, seed_bank
from tests.support.units import Unit, insert_units, make_bank


def test_a_fact_leaves_with_all_that_hangs_on_it(database: Database, tenant: TenantId, store: PostgresStore) -> None:
    bank_id = make_bank(database.admin_url, tenant)
    fact, observation = uuid4(), uuid4()
    insert_units(
        database.admin_url,
        tenant,
        bank_id,
        [
            Unit("Ada keeps bees.", id=fact, tags=("user:a",), document="d", chunk_index=0, entities=("Ada",)),
            Unit("Ada is a beekeeper.", "observation", observation, tags=("user:a",), sources=(fact,)),
        ],
    )

    with store.transaction(tenant) as tx:
        reopened = tx.memories.remove(bank_id, [UnitId(fact)])
    with store.transaction(tenant) as tx:
        count = tx.memories.count(bank_id)

    assert (reopened, count) == ([], 0)
    left = fingerprint(database, tenant)
    for table in ("memory_units", "unit_terms", "unit_tags", "unit_entities", "observation_evidence", "memory_links"):
        assert left[table][0] == 0, table
    assert left["documents"][0] == 1


def test_ids_that_are_no_facts_are_passed_over(database: Database, tenant: TenantId, store: PostgresStore) -> None:
    bank_id = make_bank(database.admin_url, tenant)
    fact, observation = uuid4(), uuid4()
    insert_units(
        database.admin_url,
        tenant,
        bank_id,
        [Unit("A fact.", id=fact), Unit("An observation.", "observation", observation, sources=(fact,))],
    )
    before = fingerprint(database, tenant)

    with store.transaction(tenant) as tx:
        assert tx.memories.remove(bank_id, [UnitId(observation), UnitId(uuid4())]) == []
        assert tx.memories.remove(bank_id, []) == []

    assert fingerprint(database, tenant) == before


def test_facts_of_another_tenant_stay(database: Database, tenant: TenantId, store: PostgresStore) -> None:
    victim = make_tenant(database, "victim")
    seeded = seed_bank(database, victim, "b", "Xanthippe")
    before = fingerprint(database, victim)

    with store.transaction(tenant) as tx:
        assert tx.memories.remove(seeded.bank_id, [UnitId(seeded.fact)]) == []

    assert fingerprint(database, victim) == before
