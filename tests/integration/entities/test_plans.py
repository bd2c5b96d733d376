"""How names are found by the app role: through an index by the name, so that no lookup reads a bank whole.

A plan hangs on what the database knows of its tables and on what others left in them, so these tests have one of their
own: as a bank is filled at first, without statistics, and then with those of thousands of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import queries
from tests.integration.entities.conftest import Register
from tests.support.database import Database, make_tenant
from tests.support.entities import named
from tests.support.units import make_bank

_SELECTIVE = ("entity_id", "name_key", "spelling_key", "key =", "unit_id")
_NAMES = 3_000
_FILL = """
WITH n AS (
    INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key)
    SELECT %(tenant)s, %(bank)s, gen_random_uuid(), 'Name ' || i, 'name ' || i FROM generate_series(1, %(names)s) AS i
    RETURNING entity_id, name_key
), keys AS (
    INSERT INTO entity_keys (tenant_id, bank_id, key, entity_id)
    SELECT %(tenant)s, %(bank)s, hashtext(name_key), entity_id FROM n
), pairs AS (
    INSERT INTO entity_cooccurrences (tenant_id, bank_id, entity_id_1, entity_id_2)
    SELECT %(tenant)s, %(bank)s, least(entity_id, other), greatest(entity_id, other)
    FROM (SELECT entity_id, lead(entity_id) OVER (ORDER BY entity_id) AS other FROM n) AS p WHERE other IS NOT NULL
)
INSERT INTO entity_spellings (tenant_id, bank_id, spelling_key, entity_id, spelling, rule, score)
SELECT %(tenant)s, %(bank)s, 'also ' || name_key, entity_id, 'Also ' || name_key, 'words', 1 FROM n
"""


@pytest.fixture(scope="module")
def names(module_database: Database) -> Iterator[Register]:
    """A bank with two names, in a database of its own."""
    tenant = make_tenant(module_database)
    store = PostgresStore(lambda: module_database.write_url)
    register = Register(module_database, tenant, store, make_bank(module_database.admin_url, tenant, "names"))
    register.retain(named("Ada", "Bea"))
    yield register
    store.close()


@pytest.fixture(scope="module")
def many_names(names: Register) -> Register:
    """A bank of thousands of names beside it, with statistics; what asks for this comes after what does not."""
    bank = make_bank(names.database.admin_url, names.tenant, "many names")
    with psycopg.connect(names.database.admin_url, autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
        admin.execute(_FILL.encode(), {"tenant": names.tenant, "bank": bank, "names": _NAMES})
        admin.execute("ANALYZE entities, entity_keys, entity_spellings, entity_cooccurrences, unit_entities")
    return Register(names.database, names.tenant, names.store, bank)


STATEMENTS = ["known", "companions", "join_facts", "add_keys", "add_spellings"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_tables_without_statistics_are_searched_by_more_than_the_bank(names: Register, statement: str) -> None:
    analysed = names.rows("SELECT relname FROM pg_stat_user_tables WHERE last_analyze IS NOT NULL")

    conditions = _conditions(names, statement)

    assert analysed == []
    assert [condition for condition in conditions if not any(word in condition for word in _SELECTIVE)] == []


def test_the_check_of_a_reference_does_not_read_every_name_of_the_bank(names: Register) -> None:
    reference = "SELECT FROM entities WHERE tenant_id = %s AND bank_id = %s AND entity_id = %s FOR KEY SHARE"

    plan = names.rows(f"EXPLAIN {reference}", names.tenant, names.bank_id, uuid4())

    assert "entities_pkey" in str(plan)
    assert "Filter" not in str(plan)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_bank_of_many_names_is_searched_by_more_than_the_bank(many_names: Register, statement: str) -> None:
    conditions = _conditions(many_names, statement)

    assert [condition for condition in conditions if not any(word in condition for word in _SELECTIVE)] == []


def _conditions(register: Register, statement: str) -> list[str]:
    """By what each index is searched, as the role that writes runs the statement, where no index is left out."""
    params = {
        "tenant_id": register.tenant, "bank_id": register.bank_id, "name_keys": ["ada"], "words": ["ada"],
        "places": [1], "keys": [1], "most_spellings": 1, "entity_ids": [uuid4()], "most": 1, "unit_ids": [uuid4()],
        "spelling_keys": ["a"], "spellings": ["a"], "rules": ["words"], "scores": [1.0],
    }  # fmt: skip
    with psycopg.connect(register.database.write_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(register.tenant),))
        connection.execute("SET LOCAL enable_seqscan = off")
        rows = connection.execute(b"EXPLAIN " + queries("entities")[statement].text, params).fetchall()
    plan = "\n".join(str(row[0]) for row in rows)
    conditions = re.findall(r"Index Cond: (.*)", plan)
    assert "Seq Scan" not in plan
    assert conditions
    return conditions
