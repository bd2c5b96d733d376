"""A frozen function's idle connection does not keep a database awake that would pause, and is missed by nobody."""

from __future__ import annotations

from importlib.resources import files

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database

ROLES = files("hindsight_aws.store").joinpath("sql", "bootstrap", "roles.sql").read_text("utf-8")


@pytest.mark.parametrize(("is_rds", "seconds"), [(True, ["60s", "60s"]), (False, [])], ids=["rds", "elsewhere"])
def test_on_rds_sessions_of_functions_end_when_they_are_idle(
    database: Database, is_rds: bool, seconds: list[str]
) -> None:
    with psycopg.connect(database.admin_url) as admin:
        if is_rds:
            admin.execute("CREATE ROLE rds_iam")
        admin.execute(ROLES.encode())
        settings = admin.execute(
            "SELECT r.rolname, split_part(each, '=', 2) "
            "FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) AS each "
            "WHERE each LIKE 'idle_session_timeout=%' ORDER BY 1"
        ).fetchall()
        admin.rollback()

    assert [timeout for _, timeout in settings] == seconds
    assert [role for role, _ in settings] == ["hindsight_read", "hindsight_write"][: len(seconds)]


def test_a_session_that_was_ended_for_being_idle_is_opened_anew(database: Database, tenant: TenantId) -> None:
    store = PostgresStore(lambda: database.write_url)
    with store.transaction(tenant) as tx:
        tx.session.connection.execute("SET idle_session_timeout = 20")  # of this session, not of the next

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        found = None
        while found != (0,):
            found = admin.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE usename = 'hindsight_write' AND datname = current_database()"
            ).fetchone()
    with store.transaction(tenant) as tx:
        bank = tx.banks.find("none")
    store.close()

    assert bank is None
