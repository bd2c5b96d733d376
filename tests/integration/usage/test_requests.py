"""Limits as callers of the API meet them: so many requests, and what is told of work that waits."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.usage.requests import RequestMeter
from tests.support.api import make_caller, make_services
from tests.support.database import Database
from tests.support.limits import Customer, StandingClock, TurnedClock
from tests.support.mcp import post

BANK = "/v1/default/banks/bank"
LONG_AGO = timedelta(seconds=10)


@pytest.fixture
def customer(database: Database, tenant: TenantId, store: PostgresStore) -> Customer:
    return Customer(database, tenant, store)


@pytest.mark.parametrize("name", ["requests_per_minute", "requests_per_day"])
def test_requests_over_the_limit_are_refused_with_the_time_to_wait(customer: Customer, name: str) -> None:
    customer.limit(**{name: 3})
    services = make_services(customer.store, customer.tenant)
    services.clock = StandingClock()
    call = make_caller(services)

    answers = [call("GET", "/v1/default/banks") for _ in range(5)]

    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert re.match(f"The limit {name} of 3 is reached", answers[4].json()["detail"])
    assert 1 <= int(answers[4].headers["retry-after"]) <= 60


@pytest.mark.parametrize(
    "path", ["banks", "banks/bank/stats", "chunks/bank_letter_0", "erasures", "files/download/no-such-key"]
)
def test_a_request_counts_once(customer: Customer, path: str) -> None:
    customer.limit(requests_per_day=100)
    services = make_services(customer.store, customer.tenant)

    answer = make_caller(services)("GET", f"/v1/default/{path}")

    assert answer.status in {200, 404}
    assert services.requests._known[customer.tenant].own == 1


def test_a_tool_of_mcp_counts_once_however_many_routes_it_asks_and_so_does_each_of_a_batch(customer: Customer) -> None:
    customer.limit(requests_per_day=100)
    services = make_services(customer.store, customer.tenant)
    services.clock = StandingClock()
    call = make_caller(services)
    changes = {"name": "update_bank", "arguments": {"mission": "Be brief.", "config_updates": {"retain_mission": "m"}}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": changes}
    call("PUT", BANK, {})

    post(call, message, "/mcp/bank")
    of_one = services.requests._known[customer.tenant].own
    post(call, [message] * 3, "/mcp/bank", mcp_protocol_version="2025-03-26")

    assert (of_one, services.requests._known[customer.tenant].own) == (2, 5)


def test_what_one_process_counted_another_knows_of(customer: Customer, read_store: PostgresStore) -> None:
    customer.limit(requests_per_day=3)
    services = make_services(read_store, customer.tenant)
    services.clock = StandingClock()
    call = make_caller(services)
    for _ in range(2):
        call("GET", "/v1/default/banks")
    services.requests._known[customer.tenant].looked_at -= LONG_AGO  # as if seconds had passed
    call("GET", "/v1/default/banks")

    other = make_caller(make_services(customer.store, customer.tenant))
    first, second = other("GET", "/v1/default/banks"), other("GET", "/v1/default/banks")

    assert (first.status, second.status) == (200, 429)
    assert customer.sql("SELECT calls FROM usage_ledger WHERE task = 'requests'") == [(2,)]


def test_what_a_process_counted_before_it_stood_still_takes_no_place_from_others(
    customer: Customer, store: PostgresStore
) -> None:
    customer.limit(requests_per_minute=10)
    earlier, later = TurnedClock(), TurnedClock()
    earlier.ahead = timedelta(minutes=-5)
    idle = RequestMeter(store, earlier)
    for _ in range(9):
        idle.count(customer.tenant)
    earlier.ahead = timedelta()
    idle.count(customer.tenant)

    other = RequestMeter(store, later)
    for _ in range(9):
        other.count(customer.tenant)

    lines = "SELECT sum(calls), bool_and(at < now() - interval '4 minutes') FROM usage_ledger"
    assert customer.sql(lines) == [(9, True)]


def test_a_count_of_long_ago_is_written_down_where_nothing_was_added_up_yet(
    customer: Customer, store: PostgresStore
) -> None:
    customer.limit(requests_per_minute=10)
    clock = TurnedClock()
    clock.ahead = timedelta(hours=-2)
    idle = RequestMeter(store, clock)
    idle.count(customer.tenant)
    clock.ahead = timedelta()
    idle.count(customer.tenant)

    assert customer.sql("SELECT calls, at > now() - interval '16 minutes' FROM usage_ledger") == [(1, True)]


def test_the_check_of_models_asks_none_that_the_tenant_may_not_pay_for(customer: Customer) -> None:
    customer.limit(usd_per_day=1)
    services = make_services(
        customer.store, customer.tenant,
        hindsight_api_enable_bank_llm_health=True, hindsight_api_reflect_llm_model="nobody.knows-v1",
    )  # fmt: skip
    call = make_caller(services)

    unpriced = call("POST", f"{BANK}/health/llm")
    customer.sql("DELETE FROM tenant_parking")
    customer.limit(usd_per_day="0.001")
    too_dear = call("POST", f"{BANK}/health/llm")

    assert (unpriced.status, too_dear.status) == (429, 429)
    assert services.probed.calls == []
    assert customer.sql("SELECT * FROM spend_holds") == []


def test_pages_are_found_by_words_alone_while_model_work_waits(customer: Customer) -> None:
    services = make_services(customer.store, customer.tenant)
    services.__dict__["embedder"] = customer.embedder
    call = make_caller(services)
    call("POST", f"{BANK}/knowledge-base/pages", {"name": "Boats", "source_query": "What floats?"})
    customer.limit(usd_per_day=1)
    customer.spend("1")
    call("POST", f"{BANK}/memories", {"items": [{"content": "Bea moved to Rome."}]})

    found = call("GET", f"{BANK}/knowledge-base/search?q=boats")

    assert (found.status, [page["name"] for page in found.json()["results"]]) == (200, ["Boats"])
    assert customer.embedder.texts == []


def test_work_that_waits_says_until_when_and_why(customer: Customer) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("1")
    call = make_caller(make_services(customer.store, customer.tenant))

    kept = call("POST", f"{BANK}/memories", {"items": [{"content": "Bea moved to Rome."}]})
    operation = call("GET", f"{BANK}/operations/{kept.json()['operation_id']}").json()
    usage, stats = call("GET", f"{BANK}/usage").json(), call("GET", f"{BANK}/stats").json()
    reflected = call("POST", f"{BANK}/reflect", {"query": "Where does Bea live?"})

    assert (kept.status, kept.json()["async"]) == (200, True)
    assert operation["status"] == "pending"
    assert operation["parked_until"] == operation["next_retry_at"] == usage["parked_until"] == stats["parked_until"]
    assert "1.0000 of 1.0000 USD a day are spent" in operation["parked_because"]
    assert reflected.status == 429
    assert "usd_per_day" in reflected.json()["detail"]
    assert reflected.headers["retry-after"] == "60"
