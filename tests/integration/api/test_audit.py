"""Who did what to which bank is written down where the bank wants it: every change, no look, and no word of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant
from tests.support.golden import schema_errors
from tests.support.models import NotedWakeups
from tests.support.sweeping import sweep_once

BANK = "/v1/default/banks/b"
LOGS = "/v1/default/banks/{bank_id}/audit-logs"


@pytest.fixture
def tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)


@pytest.fixture
def runtime(module_store: PostgresStore, tenant: TenantId) -> FakeRuntime:
    return make_services(module_store, tenant)


@pytest.fixture
def client(runtime: FakeRuntime) -> Caller:
    """A client of a bank that is audited."""
    caller = make_caller(runtime)
    assert caller("PATCH", f"{BANK}/config", {"updates": {"audit_log_enabled": True}}).status == 200
    return caller


def _logs(call: Caller, query: str = "", bank: str = "b") -> dict[str, Any]:
    answer = call("GET", f"{LOGS.format(bank_id=bank)}{query}")
    assert answer.status == 200
    shown: dict[str, Any] = answer.json()
    assert schema_errors("GET", LOGS, 200, shown) == []
    return shown


def _actions(call: Caller, query: str = "", bank: str = "b") -> list[str]:
    return [item["action"] for item in _logs(call, query, bank)["items"]]


def test_changes_are_written_down_by_action_and_subject_and_looks_are_not(client: Caller) -> None:
    client("POST", f"{BANK}/memories", {"items": [{"content": "Zoe keeps bees.", "document_id": "notes of Zoe"}]})
    memory = client("GET", f"{BANK}/memories/list").json()["items"][0]["id"]
    client("POST", f"{BANK}/memories/recall", {"query": "Zoe"})
    client("POST", f"{BANK}/prompts/preview", {})
    client("PATCH", f"{BANK}/memories/{memory}", {"state": "invalidated", "reason": "Zoe left."})
    client("DELETE", f"{BANK}/documents/notes%20of%20Zoe")

    assert _actions(client) == ["delete_document", "update_memory", "retain", "update_bank_config"]
    (edit,) = _logs(client, "?action=update_memory")["items"]
    assert edit["metadata"] == {"subject": "dev", "status": 200, "memory_id": memory}
    assert edit["transport"] == "http"
    one = client("GET", f"{BANK}/audit-logs/{edit['id']}")
    assert one.json() == {**edit, "request": None, "response": None}
    assert schema_errors("GET", f"{LOGS}/{{log_id}}", 200, one.json()) == []
    assert "Zoe" not in str(_logs(client))


def test_what_was_refused_is_written_down_with_its_status(
    client: Caller, handler: LambdaHandler, owner_store: PostgresStore, tenant: TenantId
) -> None:
    reader = Caller(handler, make_key(owner_store, tenant, permissions=frozenset({Permission.READ})))

    assert reader("DELETE", BANK).status == 403
    assert client("DELETE", f"{BANK}/documents/none").status == 404
    assert client("POST", f"{BANK}/webhooks", {"url": "https://10.0.0.1/"}).status == 422

    shown = [(item["action"], item["metadata"]["status"]) for item in _logs(client)["items"]]
    assert shown[:3] == [("create_webhook", 422), ("delete_document", 404), ("delete_bank", 403)]
    assert _logs(client)["items"][2]["metadata"]["subject"].startswith("tester#")


def test_a_bank_that_is_not_audited_has_no_log(client: Caller) -> None:
    client("PUT", "/v1/default/banks/other", {})
    client("POST", "/v1/default/banks/other/directives", {"name": "n", "content": "c"})

    assert _actions(client, bank="other") == []


def test_the_log_is_switched_on_and_off_by_calls_that_it_holds(runtime: FakeRuntime) -> None:
    call = make_caller(runtime)
    call("PUT", BANK, {})
    call("PATCH", f"{BANK}/config", {"updates": {"audit_log_enabled": True}})
    call("POST", f"{BANK}/directives", {"name": "n", "content": "c"})

    call("PATCH", f"{BANK}/config", {"updates": {"audit_log_enabled": False}})
    call("POST", f"{BANK}/directives", {"name": "n", "content": "c"})

    assert _actions(call) == ["update_bank_config", "create_directive", "update_bank_config"]


def test_the_server_audits_every_bank_that_does_not_say_from_its_making_to_its_deletion(
    module_store: PostgresStore, tenant: TenantId
) -> None:
    call = make_caller(make_services(module_store, tenant, bank_defaults=(("audit_log_enabled", "true"),)))

    call("PUT", BANK, {})
    call("POST", f"{BANK}/aliases", {"alias": "bees"})
    call("DELETE", "/v1/default/banks/bees")
    call("PUT", BANK, {})

    assert _actions(call) == ["create_bank", "delete_bank", "create_bank_alias", "create_bank"]


def test_calls_are_counted_by_hour_or_day(client: Caller) -> None:
    for _ in range(2):
        client("POST", f"{BANK}/directives", {"name": "n", "content": "c"})

    day, week = (client("GET", f"{BANK}/audit-logs/stats?period={period}") for period in ("1d", "none"))

    assert (day.json()["trunc"], week.json()["trunc"], week.json()["period"]) == ("hour", "day", "7d")
    assert schema_errors("GET", f"{LOGS}/stats", 200, day.json()) == []
    assert sum(bucket["total"] for bucket in day.json()["buckets"]) == 3
    assert week.json()["buckets"][-1]["actions"] == {"create_directive": 2, "update_bank_config": 1}
    assert client("GET", f"{BANK}/audit-logs/stats?action=other").json()["buckets"] == []


def test_entries_are_paged_and_found_by_time_and_transport(client: Caller) -> None:
    for _ in range(2):
        client("POST", f"{BANK}/directives", {"name": "n", "content": "c"})
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")

    page = _logs(client, "?limit=2&offset=2")

    assert (page["total"], len(page["items"])) == (3, 1)
    assert _logs(client, f"?end_date={tomorrow}")["total"] == 3
    assert _logs(client, f"?start_date={tomorrow}")["total"] == 0
    assert (_logs(client, "?transport=mcp")["total"], _logs(client, "?transport=http")["total"]) == (0, 3)


def test_a_key_that_sees_part_of_a_bank_sees_no_log(
    client: Caller, handler: LambdaHandler, owner_store: PostgresStore, tenant: TenantId
) -> None:
    company = Caller(handler, make_key(owner_store, tenant, exact_scopes=(frozenset({"company:acme"}),)))

    statuses = [company("GET", f"{BANK}/audit-logs{path}").status for path in ("", "/stats")]

    assert statuses == [403, 403]


def test_the_sweep_removes_what_is_older_than_entries_are_kept(
    client: Caller, module_store: PostgresStore, module_database: Database, tenant: TenantId
) -> None:
    client("POST", f"{BANK}/directives", {"name": "n", "content": "c"})
    client("DELETE", BANK)
    client("PATCH", f"{BANK}/config", {"updates": {"audit_log_enabled": True}})
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        admin.execute(
            "UPDATE hindsight.audit_log SET started_at = started_at - interval '40 days' "
            "WHERE tenant_id = %s AND action = 'create_directive'",
            (tenant,),
        )
    kept, swept = (
        make_services(module_store, tenant, hindsight_api_audit_log_retention_days=days).settings for days in (-1, 30)
    )

    sweep_once(module_store, NotedWakeups(), kept)
    before = _actions(client)
    sweep_once(module_store, NotedWakeups(), swept)

    assert before == ["update_bank_config", "delete_bank", "update_bank_config", "create_directive"]
    assert _actions(client) == ["update_bank_config", "delete_bank", "update_bank_config"]
