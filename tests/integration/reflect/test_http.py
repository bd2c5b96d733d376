"""Reflect over HTTP: what each kind of caller is told while a run goes on and when it has ended."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.errors import ModelRefused, ModelThrottled
from hindsight_aws.model.ids import RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.runs import end_if_dead
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, done, make_rig, uses
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
    served.rig.remember(Unit("Bea moved to Rome."))

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


@pytest.mark.parametrize(
    ("count", "status"), [pytest.param(1_000, 200, id="most"), pytest.param(1_001, 422, id="too many")]
)
def test_a_filter_of_many_tags_is_answered_or_refused_by_name(
    database: Database, store: PostgresStore, tenant: TenantId, count: int, status: int
) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))

    answer = served.ask(tags=[f"t{number}" for number in range(count)])

    assert answer.status == status
    assert answer.json().get("text") == "In Rome." if status == 200 else "tags" in str(answer.json()["detail"])


def test_a_run_that_goes_on_is_503_with_its_operation(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """[X086] Past its wait a call is answered 503."""
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
    served.rig.remember(Unit("Bea moved to Rome."))

    later = served.api("POST", PATH, {"query": "Where does Bea live?"}, {"prefer": "respond-async, wait=5"})
    operation = served.api("GET", f"/v1/default/banks/bank/operations/{later.json()['operation_id']}").json()
    answer = served.ask()

    assert (later.status, later.headers["preference-applied"]) == (202, "respond-async")
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
    served.rig.remember(Unit("Bea moved to Rome."))

    answer = served.ask()

    assert answer.status == 500
    assert answer.json()["error"] == "ModelRefused"
    assert "ModelRefused" in answer.json()["detail"]


def test_a_run_that_did_not_end_within_its_time_is_504(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X025]."""
    served = Served(database, store, tenant, done("In Rome."))
    served.rig.workflows.runs = False
    operation = served.ask().json()["operation_id"]
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.reflect_runs SET deadline_at = now() - interval '1 s' WHERE tenant_id = %s", (tenant,)
        )
    with store.transaction(tenant) as tx:
        assert end_if_dead(tx, served.rig.bank_id, RunId(UUID(operation)))

    answer = served.ask()

    assert (answer.status, answer.json()["operation_id"]) == (504, operation)
    assert "within its time" in answer.json()["detail"]


def test_endless_throttling_is_503(database: Database, store: PostgresStore, tenant: TenantId) -> None:  # [X080]
    served = Served(database, store, tenant, ModelThrottled("slow down"))
    served.rig.remember(Unit("Bea moved to Rome."))

    answer = served.ask()

    assert (answer.status, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"query": " "}, ["body"], id="[X027]"),
        pytest.param({"query": " ", "context": "\t"}, ["body"], id="[X027]-blank context"),
        ({"query": "a", "fact_types": []}, ["body", "fact_types"]),
        pytest.param({"query": "a", "response_schema": {}}, ["body", "response_schema"], id="[X037]"),
        ({"query": "a", "query_timestamp": "yesterday"}, ["body", "query_timestamp"]),
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
    """[X027] A context alone is allowed."""
    served = Served(database, store, tenant, done("x", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))

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


def test_an_equal_request_is_given_the_answer_that_came_after_the_503(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """[X086] The answer is the same by either way."""
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))
    served.rig.workflows.runs = False

    waiting = served.ask()
    served.rig.workflows.runs = True
    run_id = served.rig.workflows.started.pop()
    served.rig.workflows.start_reflect(tenant, served.rig.bank_id, run_id)
    answer = served.ask()

    assert (waiting.status, answer.status) == (503, 200)
    assert answer.json()["text"] == "In Rome."
    assert served.rig.workflows.started == [run_id]
    operation = served.api("GET", f"/v1/default/banks/bank/operations/{waiting.json()['operation_id']}").json()
    assert operation["result_metadata"] == answer.json()


def test_a_cancelled_run_is_asked_nothing_and_told_as_cancelled(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))
    served.rig.workflows.runs = False

    run = served.ask().json()["operation_id"]
    path = f"/v1/default/banks/bank/operations/{run}"
    cancelled, again = served.api("DELETE", path), served.api("DELETE", path)
    served.rig.workflows.runs = True
    served.rig.workflows.start_reflect(tenant, served.rig.bank_id, served.rig.workflows.started[0])

    assert (cancelled.status, again.status) == (200, 409)
    assert served.api("GET", path).json()["status"] == "cancelled"
    assert served.rig.model.calls == []
    assert served.ask().status == 200


def test_the_present_of_a_question_may_be_another(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))

    served.ask(query_timestamp="2024-02-29T23:30:00-05:00")

    assert any("Friday, 2024-03-01 04:30" in block for block in served.rig.model.calls[0].blocks)


def test_an_answer_says_what_it_cost(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))

    usage = served.ask().json()["usage"]

    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert "usd" in usage


def test_an_answer_that_was_forgotten_is_asked_for_again(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))
    step = served.rig.workflows.step

    def then_forget(event: JsonObject) -> JsonObject:
        answered = step(event)
        if event["step"] == "finish":
            with store.transaction(tenant) as tx:
                tx.reflect.forget_answers(served.rig.bank_id)
        return answered

    served.rig.workflows.step = then_forget
    forgotten = served.ask()
    served.rig.workflows.step = step

    assert (forgotten.status, forgotten.headers["retry-after"]) == (503, "1")
    assert served.ask().status == 200


def test_a_schema_is_answered_in_its_own_form(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"), uses(("structured_answer", {"city": "Rome"})))
    served.rig.remember(Unit("Bea moved to Rome."))

    body = served.ask(response_schema={"properties": {"city": {"type": "string"}}, "required": ["city"]}).json()

    assert (body["structured_output"], body["structured_output_error"]) == ({"city": "Rome"}, None)


def test_text_that_no_database_holds_is_no_failure(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    served = Served(database, store, tenant, done("In Rome.", "f1"))
    served.rig.remember(Unit("Bea moved to Rome."))

    answer = served.ask(context="a\x00b\ud800", tags=["t\x00"], response_schema={"properties": {"a\x00": {}}})

    assert answer.status == 200
