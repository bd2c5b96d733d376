"""Reflect over HTTP: what each kind of caller is told while a run goes on and when it has ended."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.errors import ModelRefused, ModelThrottled
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, done, make_rig
from tests.support.units import Unit

PATH = "/v1/default/banks/bank/reflect"


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


class Served:
    """The reflect and admin routes on a rig; as an HTTP API has them, or as a Function URL."""

    def __init__(self, database: Database, store: PostgresStore, tenant: TenantId, *replies: Reply) -> None:
        services: FakeRuntime = make_services(
            store, tenant, hindsight_reflect_wait_seconds=0.0, hindsight_reflect_url_wait_seconds=0.2
        )
        self.rig: Rig = make_rig(database, store, tenant, *replies)
        self.rig.settings = services.settings
        services.__dict__["reflect_door"] = self.rig.door
        handler = make_caller(services, groups=frozenset({"reflect", "admin"})).handler

        def behind_the_gateway(event: dict[str, Any], context: object) -> dict[str, Any]:
            return handler({**event, "routeKey": "POST /v1/default/banks/{bank_id}/reflect"}, context)

        self.api, self.url = Caller(behind_the_gateway), Caller(handler)

    def ask(self, **body: object) -> Answer:
        return self.api("POST", PATH, {"query": "Where does Bea live?", **body})


def test_an_answer_has_every_field_of_the_contract(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.hold(Unit("Bea moved to Rome."))

    answer = served.ask(include={"facts": {}, "tool_calls": {"output": False}})

    body = answer.json()
    assert answer.status == 200
    assert body["text"] == "In Rome."
    assert body["structured_output"] is body["structured_output_error"] is None
    assert set(body["based_on"]) == {"memories", "mental_models", "directives"}
    assert [call["tool"] for call in body["trace"]["tool_calls"]] == ["search_observations", "recall"]
    assert {call["output"] is None for call in body["trace"]["tool_calls"]} == {True}
    assert [call["scope"] for call in body["trace"]["llm_calls"]] == ["agent_1"]


def test_what_was_not_asked_for_is_null(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))

    body = served.ask().json()

    assert body["based_on"] is body["trace"] is None


def test_a_run_that_goes_on_is_503_with_its_operation(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant, done("In Rome."))
    served.rig.workflows.runs = False

    first, second = served.ask(), served.ask()

    assert first.status == second.status == 503
    assert first.headers["retry-after"] == "1"
    assert first.json()["operation_id"] == second.json()["operation_id"]
    assert len(served.rig.workflows.started) == 1


def test_a_caller_who_prefers_to_ask_later_gets_202_and_the_same_answer_as_an_operation(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.hold(Unit("Bea moved to Rome."))

    later = served.api("POST", PATH, {"query": "Where does Bea live?"}, {"prefer": "respond-async, wait=5"})
    operation = served.api("GET", f"/v1/default/banks/bank/operations/{later.json()['operation_id']}").json()
    answer = served.ask()

    assert later.status == 202
    assert (operation["status"], operation["operation_type"]) == ("completed", "reflect")
    assert operation["result_metadata"] == answer.json()
    assert len(served.rig.model.calls) == 1


def test_a_function_url_waits_for_as_long_as_its_own_setting(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant, done("In Rome."))
    served.rig.workflows.runs = False

    import time

    began = time.monotonic()
    answer = served.url("POST", PATH, {"query": "Where does Bea live?"})

    assert answer.status == 503
    assert time.monotonic() - began >= 0.2


def test_a_failure_is_told_once_with_its_kind(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, ModelRefused("policy"))
    served.rig.hold(Unit("Bea moved to Rome."))

    answer = served.ask()

    assert answer.status == 500
    assert "ModelRefused" in answer.json()["detail"]


def test_endless_throttling_is_503(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, ModelThrottled("slow down"))
    served.rig.hold(Unit("Bea moved to Rome."))

    answer = served.ask()

    assert (answer.status, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": " "}, ["body"]),
        ({"query": "a", "fact_types": []}, ["body", "fact_types"]),
        ({"query": "a", "response_schema": {}}, ["body", "response_schema"]),
        ({"query": "a", "response_schema": {"type": "array", "properties": {"a": {}}}}, ["body", "response_schema"]),
        ({"query": "a", "response_schema": {"properties": {"a": {"type": "zzz"}}}}, ["body", "response_schema"]),
        ({"query": "a", "response_schema": {"properties": {"a": {}}, "required": ["b"]}}, ["body", "response_schema"]),
        ({"query": "a", "tags": ["x"], "tag_groups": [{"tags": ["y"]}]}, ["body"]),
        (
            {"query": "a", "reflect_search_observations_max_tokens": 0},
            ["body", "reflect_search_observations_max_tokens"],
        ),
    ],
)
def test_a_wrong_field_is_422_and_starts_nothing(
    database: Database, store: PostgresStore, tenant: TenantId, body: dict[str, object], field: list[str]
) -> None:
    served = Served(database, store, tenant, done("x"))

    answer = served.api("POST", PATH, body)

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == field
    assert served.rig.workflows.started == []


def test_a_context_without_a_query_is_the_question(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("x", "f1"))
    served.rig.hold(Unit("Bea moved to Rome."))

    answer = served.ask(query=" ", context="Where does Bea live?")

    assert answer.status == 200
    assert any("Where does Bea live?" in block for block in served.rig.model.calls[0].blocks)


def test_without_a_model_reflect_is_refused(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("x"))
    served.rig.settings = served.rig.settings.model_copy(update={"hindsight_api_llm_provider": "none"})
    services = make_services(store, tenant)
    services.__dict__["reflect_door"] = served.rig.door
    call = make_caller(services, groups=frozenset({"reflect"}))

    assert call("POST", PATH, {"query": "x"}).status == 400
