"""Names are found through indexes by the app role, on tables that nobody has analysed yet: no bank is read whole."""

from __future__ import annotations

import re
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.store.queries import queries
from tests.integration.entities.conftest import Register
from tests.support.entities import named

_SELECTIVE = ("entity_id", "name_key", "spelling_key", "key =", "unit_id")


@pytest.mark.parametrize("statement", ["known", "companions", "join_facts", "add_keys", "add_spellings"])
def test_each_table_is_searched_by_more_than_its_bank(register: Register, statement: str) -> None:
    with psycopg.connect(register.database.owner_url, autocommit=True) as owner:
        for table in ("entities", "entity_keys", "entity_spellings", "entity_cooccurrences", "unit_entities"):
            owner.execute(f"ALTER TABLE hindsight.{table} SET (autovacuum_enabled = false)".encode())
    register.retain(named("Ada", "Bea"))
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
    assert [condition for condition in conditions if not any(word in condition for word in _SELECTIVE)] == []


def test_a_check_of_a_reference_does_not_read_every_name_of_the_bank(register: Register) -> None:
    reference = "SELECT FROM entities WHERE tenant_id = %s AND bank_id = %s AND entity_id = %s FOR KEY SHARE"

    plan = register.rows(f"EXPLAIN {reference}", register.tenant, register.bank_id, uuid4())

    assert "entities_pkey" in str(plan)
    assert "Filter" not in str(plan)
