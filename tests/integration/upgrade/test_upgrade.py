"""What release 0.1.0 kept is migrated, found, worked off and served by this one."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.model.ids import BankId
from hindsight_aws.store.migrator import migrate, pending
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.upgrade.conftest import TENANT, rows_of_the_release
from tests.support.admin import admin
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.invariants import broken
from tests.support.models import HashEmbedder, one_fact_per_line

_BANKS = "/v1/default/banks"


@pytest.fixture
def services(upgraded: Database) -> Iterator[FakeRuntime]:
    store = PostgresStore(lambda: upgraded.write_url, connect_for_s=30.0)
    runtime = make_services(store, TENANT)
    runtime.__dict__["embedder"] = HashEmbedder("amazon.titan-embed-text-v2:0")
    yield runtime
    store.close()


@pytest.fixture
def call(services: FakeRuntime) -> Caller:
    return make_caller(services)


def test_every_row_is_kept_and_a_second_run_finds_nothing_to_do(upgraded: Database) -> None:
    kept = {table: rows.count("\n") for table, _, rows in rows_of_the_release()}

    again = migrate(upgraded.admin_url)

    with admin(upgraded.admin_url) as connection:
        for table, before in kept.items():
            (now,) = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() or (None,)
            assert now == before, table
    assert (again.applied, pending(upgraded.admin_url)) == ((), ())


def test_the_invariants_hold(upgraded: Database) -> None:
    assert_invariants(upgraded)


def test_facts_beliefs_and_evidence_are_served(call: Caller) -> None:
    facts = call("GET", f"{_BANKS}/people/memories/list?type=world").json()
    beliefs = call("GET", f"{_BANKS}/people/memories/list?type=observation").json()
    belief = next(one["id"] for one in beliefs["items"] if "bees" in one["text"])

    detail = call("GET", f"{_BANKS}/people/memories/{belief}").json()
    history = call("GET", f"{_BANKS}/people/memories/{belief}/history")
    document = call("GET", f"{_BANKS}/people/documents/letter-1").json()

    assert (facts["total"], beliefs["total"]) == (4, 3)
    assert detail["tags"] == ["user:ada"]
    assert {source["text"] for source in detail["source_memories"]} <= {fact["text"] for fact in facts["items"]}
    assert history.status == 200
    assert document["original_text"] == "Ada keeps bees in Lyon."
    assert call("GET", f"{_BANKS}/people/config").json()["overrides"]["observations_mission"] == "One belief a person"


def test_a_question_finds_them_by_words(call: Caller) -> None:
    found = call("POST", f"{_BANKS}/people/memories/recall", {"query": "Who keeps bees in Lyon?"}).json()

    assert "Ada keeps bees in Lyon." in [one["text"] for one in found["results"]]


def test_a_correction_sweeps_what_rests_on_an_older_fact(call: Caller, upgraded: Database) -> None:
    (fact,) = call("GET", f"{_BANKS}/people/memories/list?type=world&q=Crete").json()["items"]

    answer = call("PATCH", f"{_BANKS}/people/memories/{fact['id']}", {"state": "invalidated", "reason": "moved"})

    assert answer.status == 200, answer.body
    left = call("GET", f"{_BANKS}/people/memories/list?type=observation").json()["items"]
    assert all("Crete" not in one["text"] for one in left)
    assert_invariants(upgraded)


def test_work_that_waited_is_done(call: Caller, services: FakeRuntime, upgraded: Database) -> None:
    with admin(upgraded.admin_url) as connection:
        (operation,) = connection.execute(
            "SELECT operation_id FROM operations WHERE status = 'pending' AND kind = 'retain'"
        ).fetchone() or (None,)
    services.model.script = one_fact_per_line

    ingest(services.retain_ports, json.dumps({"tenant_id": str(TENANT), "operation_id": str(operation)}), 600.0)

    listed = call("GET", f"{_BANKS}/waiting/memories/list?q=lemons").json()
    assert listed["total"] == 1
    assert call("GET", f"{_BANKS}/waiting/operations/{operation}").json()["status"] == "completed"
    assert call("GET", f"{_BANKS}/waiting/stats").json()["pending_consolidation"] == 3


def assert_invariants(database: Database) -> None:
    with psycopg.connect(database.admin_url, options="-c search_path=hindsight,public", row_factory=dict_row) as rows:
        banks = [BankId(row["bank_id"]) for row in rows.execute("SELECT bank_id FROM banks")]
        assert len(banks) == 2
        assert broken(rows, banks) == []
