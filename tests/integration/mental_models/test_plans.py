"""How Postgres finds out whether a page is stale: by index, in spite of forced row-level security."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import queries
from tests.support.database import Database, make_tenant
from tests.support.refreshing import Garden, make_garden, ready
from tests.support.units import Unit


@pytest.fixture
def garden(module_database: Database) -> Iterator[Garden]:
    """A garden in a database of its own: what other tests leave in its files would change the plan."""
    store = PostgresStore(lambda: module_database.write_url)
    yield make_garden(module_database, store, make_tenant(module_database), ready())
    store.close()


def test_staleness_reads_what_changed_lately_and_no_more(garden: Garden) -> None:
    """A bound that counts as leaky would be a filter over all of the bank (measured: 14 ms a page at 50 k, not 0.7).

    What may have been committed late is asked of transactions, not of each of their memories.
    """
    garden.rig.remember(Unit("Roses grow here."))
    garden.plant()
    asked = {"tenant_id": garden.rig.tenant, "bank_id": garden.rig.bank_id, "page_id": garden.model().page_id}

    with psycopg.connect(garden.rig.database.write_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(garden.rig.tenant),))
        connection.execute("SET LOCAL enable_seqscan = off")
        rows = connection.execute(b"EXPLAIN " + queries("mental_models")["staleness"].text, asked).fetchall()

    plan = [row[0] for row in rows]
    at = next(index for index, line in enumerate(plan) if "memory_units_updated" in line)
    assert "updated_at >" in plan[at + 1]
    group = next(index for index, line in enumerate(plan) if "HashAggregate" in line)
    assert "xmin" in plan[group + 1]
    assert not any("pg_visible_in_snapshot" in line for line in plan[group + 1 : group + 6])
