"""What the sweep is told to wake: the longest due first, each scope once, nothing that would not be worked on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from hindsight_aws.model import operation
from hindsight_aws.ports.store import DueBy, DueKind
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database

_KINDS_OF_OPERATIONS = {value for name, value in vars(operation).items() if name.isupper() and isinstance(value, str)}


class Backlog:
    """Consolidation work of several tenants, written past every constraint."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def scope(self, *minutes: int, facts: int = 1, state: str = "pending", **config: object) -> UUID:
        """A scope of a new tenant's bank whose facts became due these minutes ago."""
        tenant, bank, scope = uuid4(), uuid4(), uuid4()
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
            admin.execute(
                "INSERT INTO banks (tenant_id, bank_id, external_id, config) VALUES (%s, %s, 'bank', %s)",
                (tenant, bank, Jsonb(config)),
            )
            admin.execute(
                "INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags) VALUES (%s, %s, %s, '', '{}')",
                (tenant, bank, scope),
            )
            admin.execute(
                "INSERT INTO consolidation_work "
                "(tenant_id, bank_id, scope_id, state, work_id, fact_id, due_at, failed_at, created_at) "
                "SELECT %s, %s, %s, %s, gen_random_uuid(), gen_random_uuid(), at.moment, at.moment, at.moment "
                "FROM unnest(%s::integer[]) AS m, generate_series(1, %s), "
                "LATERAL (SELECT now() - make_interval(mins => m)) AS at (moment)",
                (tenant, bank, scope, state, list(minutes), facts),
            )
        return scope

    def die(self, scope: UUID | None = None, minutes: int = 1) -> None:
        """As if the workers of a scope, or of all, had died and their leases had run out these minutes ago."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute(
                "UPDATE hindsight.scopes SET lease_until = now() - make_interval(mins => %s) "
                "WHERE %s::uuid IS NULL OR scope_id = %s",
                (minutes, scope, scope),
            )

    def operations(self, kind: str, count: int, minutes: int) -> None:
        """Open operations of as many banks that became due these minutes ago."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
            admin.execute(
                "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, due_at) "
                "SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), %s, 's', "
                "now() - make_interval(mins => %s) "
                "FROM generate_series(1, %s)",
                (kind, minutes, count),
            )

    def ask(self, scope: UUID, times: int) -> None:
        """Has the scope's work asked for, so often by operations that wait for it."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
            admin.execute("UPDATE consolidation_work SET requested = true WHERE scope_id = %s", (scope,))
            admin.execute(
                "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, payload) "
                "SELECT tenant_id, bank_id, gen_random_uuid(), 'consolidation', 's', "
                "jsonb_build_object('scope_ids', jsonb_build_array(scope_id)) FROM scopes, generate_series(1, %s) "
                "WHERE scope_id = %s",
                (times, scope),
            )

    def give_up(self, kind: str | None, count: int) -> None:
        """Operations of a kind that failed; None: facts that failed in their scope and are not revived any more."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
            if kind is not None:
                admin.execute(
                    "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, status) "
                    "SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), %s, 's', 'failed' "
                    "FROM generate_series(1, %s)",
                    (kind, count),
                )
                return
            admin.execute(
                "INSERT INTO consolidation_work "
                "(tenant_id, bank_id, scope_id, state, work_id, fact_id, failed_at, revivals) "
                "SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'failed', gen_random_uuid(), "
                "gen_random_uuid(), now(), 4 FROM generate_series(1, %s)",
                (count,),
            )

    def leave_files(self, scope: UUID, count: int, minutes: int) -> None:
        """Files of the scope's bank, kept so long ago for documents that are gone."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica; SET search_path = hindsight, public")
            admin.execute(
                "INSERT INTO kept_files (tenant_id, bank_id, file_id, object_key, filename, content_type, size, "
                "operation_id, retain_operation_id, held_at, created_at) "
                "SELECT tenant_id, bank_id, gen_random_uuid(), 'k', 'f', 't', 1, gen_random_uuid(), gen_random_uuid(), "
                "now(), now() - make_interval(mins => %s) FROM scopes, generate_series(1, %s) WHERE scope_id = %s",
                (minutes, count, scope),
            )

    def park(self, scope: UUID) -> None:
        """Has the model work of the scope's tenant wait for an hour."""
        with psycopg.connect(self._database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica")
            admin.execute(
                "INSERT INTO hindsight.tenant_parking (tenant_id, parked_until, limit_name, reason) "
                "SELECT tenant_id, now() + interval '1 hour', 'usd_per_day', 'spent' FROM hindsight.scopes "
                "WHERE scope_id = %s",
                (scope,),
            )


@pytest.fixture
def backlog(module_database: Database) -> Backlog:
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute(
            "TRUNCATE hindsight.consolidation_work, hindsight.scopes, hindsight.banks, hindsight.operations, "
            "hindsight.tenant_parking CASCADE"
        )
    return Backlog(module_database)


@pytest.fixture
def sweeper(module_database: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(lambda: module_database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


_DUE_BY = DueBy(observations=True, auto_consolidation=True)


def _due(
    store: PostgresStore, at_most: int = 10, *, observations: bool = True, by_itself: bool = True
) -> list[tuple[str, UUID]]:
    due = store.due_work(at_most, DueBy(observations=observations, auto_consolidation=by_itself))
    return [(work.kind, work.id) for work in due]


def test_the_scopes_that_are_due_for_longest_come_first(backlog: Backlog, sweeper: PostgresStore) -> None:
    scopes = {minutes: backlog.scope(minutes) for minutes in (5, 30, 1, 10)}

    due = _due(sweeper, at_most=3)

    assert due == [("consolidation", scopes[minutes]) for minutes in (30, 10, 5)]


def test_a_scope_in_which_many_facts_wait_takes_one_place(backlog: Backlog, sweeper: PostgresStore) -> None:
    crowded, small = backlog.scope(40, 30, facts=300), backlog.scope(1)

    due = _due(sweeper, at_most=2)

    assert due == [("consolidation", crowded), ("consolidation", small)]


def test_failed_scopes_are_tried_again_the_longest_failed_first(backlog: Backlog, sweeper: PostgresStore) -> None:
    scopes = {minutes: backlog.scope(minutes, state="failed") for minutes in (20, 60, 3, 40)}

    due = _due(sweeper, at_most=2)

    assert due == [("revival", scopes[60]), ("revival", scopes[40])]


def test_a_bank_that_does_not_say_follows_the_server(backlog: Backlog, sweeper: PostgresStore) -> None:
    silent = backlog.scope(3)
    wants = backlog.scope(2, enable_observations=True, enable_auto_consolidation=True)
    backlog.scope(1, enable_observations=False)

    assert _due(sweeper) == [("consolidation", silent), ("consolidation", wants)]
    assert _due(sweeper, observations=False) == [("consolidation", wants)]
    assert _due(sweeper, by_itself=False) == [("consolidation", wants)]


def test_scopes_whose_workers_die_starve_no_younger_one(backlog: Backlog, sweeper: PostgresStore) -> None:
    """However many there are: a scope whose last lease ran out comes after those that nobody has begun."""
    dying = {backlog.scope(600 + n) for n in range(12)}
    backlog.die()
    young = backlog.scope(1)

    due = [scope for _, scope in _due(sweeper, at_most=10)]

    assert due[0] == young
    assert set(due[1:]) <= dying
    assert len(due) == 10


def test_scopes_whose_workers_die_come_in_turn(backlog: Backlog, sweeper: PostgresStore) -> None:
    first, second = backlog.scope(600), backlog.scope(500)
    backlog.die(first, minutes=1)
    backlog.die(second, minutes=2)

    assert _due(sweeper, at_most=1) == [("consolidation", second)]


def test_operations_that_wait_for_other_work_starve_no_retain(backlog: Backlog, sweeper: PostgresStore) -> None:
    backlog.operations("consolidation", 30, minutes=600)
    backlog.operations("retain", 3, minutes=1)

    due = [kind for kind, _ in _due(sweeper, at_most=10)]

    assert due.count("operation:retain") == 3
    assert due.count("operation:consolidation") == 10


def test_a_bank_with_many_files_to_delete_hides_no_other(backlog: Backlog, sweeper: PostgresStore) -> None:
    for minutes, count in ((30, 20), (10, 1)):
        backlog.leave_files(backlog.scope(1, state="done"), count, minutes)

    assert [kind for kind, _ in _due(sweeper, at_most=2)] == ["kept_files"] * 2


def test_what_waits_for_a_parked_tenant_takes_no_place_and_a_bank_takes_one(
    backlog: Backlog, sweeper: PostgresStore
) -> None:
    waiting, crowded = backlog.scope(30), backlog.scope(20)
    backlog.ask(waiting, 600)
    backlog.ask(crowded, 600)
    backlog.operations("consolidation", 1, minutes=1)

    before = [kind for kind, _ in _due(sweeper, at_most=500)]
    backlog.park(waiting)
    parked = [kind for kind, _ in _due(sweeper, at_most=2)]

    assert before.count("operation:consolidation") == 3
    assert parked.count("operation:consolidation") == 2


def test_what_a_parked_tenant_waits_for_no_more_is_ended(backlog: Backlog, sweeper: PostgresStore) -> None:
    scope = backlog.scope(30, state="done")
    backlog.ask(scope, 1)
    backlog.park(scope)

    assert [kind for kind, _ in _due(sweeper)] == ["operation:consolidation"]


def test_what_is_due_is_found_by_its_index_among_what_is_done(backlog: Backlog, module_database: Database) -> None:
    backlog.scope(10, facts=10_000, state="done")
    for minutes in range(1, 20):
        backlog.scope(minutes, facts=3)

    plan = _plan(module_database)

    assert "consolidation_work_due" in plan
    assert "consolidation_work_revivable" in plan
    assert "Seq Scan on consolidation_work" not in plan


def _plan(database: Database) -> str:
    """How the router works the function's body off."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        admin.execute("ANALYZE consolidation_work, scopes, banks, operations, reflect_runs, link_maintenance")
        body = admin.execute(
            "SELECT prosrc FROM pg_proc WHERE proname = 'due_work' AND 'server_policy' = ANY (proargnames)"
        ).fetchone()
        assert body is not None
        text = re.sub(r"\b(observations|auto_consolidation)\b(?!')", "true", body[0])
        text = re.sub(r"\bat_most\b", "500", re.sub(r"\bserver_policy\b", "'digest'::text", text))
        text = re.sub(r"\bmoment\b", "now()", text)
        admin.execute("SET ROLE hindsight_router")
        return "\n".join(row[0] for row in admin.execute(f"EXPLAIN {text}".encode()))


def test_what_nobody_wants_is_not_foretold(backlog: Backlog, sweeper: PostgresStore) -> None:
    backlog.scope(1)

    assert sweeper.next_due(DueBy(observations=True, auto_consolidation=True)) is not None
    assert sweeper.next_due(DueBy(observations=False, auto_consolidation=True)) is None


def test_the_backlog_is_amounts_by_kind_of_what_waits_and_of_what_is_given_up(
    backlog: Backlog, sweeper: PostgresStore
) -> None:
    backlog.scope(30, 10, facts=2)
    backlog.scope(50, enable_auto_consolidation=False)
    backlog.scope(40, state="failed")
    backlog.operations("retain", count=3, minutes=20)
    backlog.operations("consolidation", count=1, minutes=90)
    held = backlog.scope(60)
    backlog.die(held, minutes=-5)
    backlog.give_up("retain", count=2)
    backlog.give_up(None, count=4)

    found = sweeper.backlog(_DUE_BY)

    assert found.due == {"consolidation": 4, "operation:retain": 3}
    assert found.failed == {"operation:retain": 2, "consolidation": 4}
    assert {kind: round(seconds / 60) for kind, seconds in found.oldest_s.items()} == {
        "consolidation": 30,
        "operation:retain": 20,
    }
    assert round(found.oldest_fact_s / 60) == 60
    assert found.parked_tenants == 0


def test_what_a_parked_tenant_has_waits_for_nobody_and_the_tenant_is_counted(
    backlog: Backlog, sweeper: PostgresStore
) -> None:
    backlog.park(backlog.scope(30))

    found = sweeper.backlog(_DUE_BY)

    assert (found.due, found.oldest_fact_s, found.parked_tenants) == ({}, 0.0, 1)


def test_nobody_s_backlog_is_nothing(backlog: Backlog, sweeper: PostgresStore) -> None:
    found = sweeper.backlog(_DUE_BY)

    assert (found.due, found.oldest_s, found.failed, found.oldest_fact_s, found.parked_tenants) == ({}, {}, {}, 0.0, 0)


def test_the_kinds_that_the_database_tells_of_are_those_that_the_sweep_takes_care_of(module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url) as admin:
        bodies = admin.execute(
            "SELECT prosrc FROM pg_proc WHERE proname = 'due_work' AND proargnames[1] = 'at_most' "
            "AND pronamespace = 'hindsight'::regnamespace"
        ).fetchall()

    text = "".join(body for (body,) in bodies)
    told = set(re.findall(r"SELECT (?:DISTINCT )?\w+\.tenant_id, '(\w+)',", text))
    of_operations = {kind for kind in DueKind if kind.startswith("operation:")}

    assert "SELECT o.tenant_id, 'operation:' || o.kind," in text
    assert told == set(DueKind) - of_operations
    assert of_operations == {f"operation:{kind}" for kind in _KINDS_OF_OPERATIONS - {operation.BATCH_RETAIN}}
