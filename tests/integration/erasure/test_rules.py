"""Each table of the schema has a rule that says what an erasure does with it."""

from __future__ import annotations

from hindsight_aws.erasure.rules import RULES
from tests.support.admin import admin
from tests.support.database import Database


def test_every_table_has_a_rule(database: Database) -> None:
    with admin(database.admin_url) as connection:
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = 'hindsight' AND table_type = 'BASE TABLE' AND table_name NOT LIKE '%yoyo%'"
        ).fetchall()

    assert {str(name) for (name,) in found} == RULES.keys()


def test_what_goes_with_its_bank_refers_to_it(database: Database) -> None:
    """A table of the bank's whose rows nothing takes out with it would keep them."""
    with admin(database.admin_url) as connection:
        found = connection.execute(
            "WITH RECURSIVE going (name) AS (SELECT 'banks'::name UNION "
            "SELECT c.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
            "JOIN pg_class t ON t.oid = k.confrelid JOIN going g ON g.name = t.relname "
            "WHERE k.contype = 'f' AND k.confdeltype = 'c' AND k.connamespace = 'hindsight'::regnamespace) "
            "SELECT name::text FROM going"
        ).fetchall()

    assert {str(name) for (name,) in found} == {name for name, rule in RULES.items() if rule.of_bank == "goes"}
