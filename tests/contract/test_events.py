"""Whole events as AWS sends them, through the handlers that Lambda calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from hindsight_aws.api.app import create_app
from hindsight_aws.api.gateway import lambda_handler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_services, payload_v2
from tests.support.database import Database

EVENTS = Path(__file__).parent.parent / "events"


@pytest.fixture(scope="module")
def services(module_store: PostgresStore, module_tenant: TenantId) -> FakeRuntime:
    return make_services(module_store, module_tenant)


@pytest.fixture(scope="module")
def call(services: FakeRuntime) -> Caller:
    return make_caller(services)


@pytest.mark.parametrize("event", ["function-url", "http-api"])
def test_an_event_of_each_kind_reaches_the_bank_it_names(services: FakeRuntime, call: Caller, event: str) -> None:
    handler = lambda_handler(create_app({"admin"}, services), is_local=False)
    call("PUT", "/v1/default/banks/team%20a", {})

    answer = handler(_event(event), None)

    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["bank_id"] == "team a"
    assert answer["headers"]["x-ignored-params"] == "unknown"


@pytest.mark.parametrize("identifier", ["a%41", "a:b c", "100%", "é-ü", "+", "a?b#c"])
@pytest.mark.parametrize("event", ["function-url", "http-api"])
def test_an_id_means_the_same_however_the_call_came(
    services: FakeRuntime, call: Caller, event: str, identifier: str
) -> None:
    handler = lambda_handler(create_app({"admin"}, services), is_local=False)
    sent = _event(event)
    path = f"/v1/default/banks/{identifier if event == 'http-api' else quote(identifier, safe='')}"
    sent["requestContext"]["http"] |= {"path": path, "method": "PUT"}
    sent |= {"rawPath": path, "body": "{}", "rawQueryString": ""}

    answer = handler(sent, None)

    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["bank_id"] == identifier


def test_a_long_answer_is_compressed_for_those_who_accept_it(services: FakeRuntime, call: Caller) -> None:
    call("PUT", "/v1/default/banks/b", {})

    plain = call("GET", "/v1/default/banks/b/config")
    packed = call("GET", "/v1/default/banks/b/config", headers={"accept-encoding": "gzip"})

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()


def test_two_events_are_served_when_the_connection_broke_between_them(
    services: FakeRuntime, call: Caller, module_database: Database
) -> None:
    first = call("PUT", "/v1/default/banks/b", {})
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hindsight_write'")

    second = call("GET", "/v1/default/banks/b/stats")

    assert (first.status, second.status) == (200, 200)


def test_a_function_serves_its_own_group_alone(services: FakeRuntime) -> None:
    handler = lambda_handler(create_app({"recall"}, services), is_local=True)

    answer = handler(payload_v2("GET", "/v1/default/banks", {"host": "x"}, b""), None)

    assert (answer["statusCode"], json.loads(answer["body"])) == (404, {"detail": "Not Found"})


def test_a_trailing_slash_is_redirected(call: Caller) -> None:
    answer = call("GET", "/v1/default/banks/")

    assert answer.status == 307
    assert answer.headers["location"].endswith("/v1/default/banks")


def _event(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text("utf-8"))
    event["headers"].pop("accept-encoding")
    return event
