"""MCP over a real database: what tools answer, which are allowed, and what hostile messages get."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_aws.api.mcp import results
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.mcp import ask, post, use_tool
from tests.support.models import one_fact_per_line
from tests.support.seed import Seeded, seed_bank

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(scope="module")
def rooms(module_store: PostgresStore, module_tenant: TenantId) -> FakeRuntime:
    services = make_services(module_store, module_tenant)
    services.model.script = one_fact_per_line
    return services


@pytest.fixture(scope="module")
def here(rooms: FakeRuntime) -> Caller:
    return make_caller(rooms)


@pytest.fixture(scope="module")
def seeded(module_database: Database, module_tenant: TenantId) -> Seeded:
    return seed_bank(module_database, module_tenant, "seeded", "Zoe")


def test_a_retained_text_is_an_operation_and_a_waited_for_one_its_memories(here: Caller, rooms: FakeRuntime) -> None:
    accepted, _ = use_tool(here, "retain", "/mcp/kept", content="Ada keeps bees.")
    completed, _ = use_tool(here, "sync_retain", "/mcp/kept", content="Bob sails.", metadata='{"k": "v"}')

    operation, _ = use_tool(here, "get_operation", "/mcp/kept", operation_id=accepted["operation_id"])
    memory, _ = use_tool(here, "get_memory", "/mcp/kept", memory_id=completed["memory_ids"][0])
    assert accepted["status"] == "accepted"
    assert operation["status"] == "pending"
    assert completed["message"] == "Stored 1 memory."
    assert (memory["text"], memory["context"], memory["metadata"]) == ("Bob sails.", "general", {"k": "v"})


def test_a_correction_is_the_routes_own(here: Caller) -> None:
    kept, _ = use_tool(here, "sync_retain", "/mcp/corrected", content="Cy paints.")
    memory_id = kept["memory_ids"][0]

    edited, _ = use_tool(here, "update_memory", "/mcp/corrected", memory_id=memory_id, text="Cy draws.")
    gone, _ = use_tool(here, "invalidate_memory", "/mcp/corrected", memory_id=memory_id, reason="wrong")
    back, _ = use_tool(here, "invalidate_memory", "/mcp/corrected", memory_id=memory_id, restore=True)

    assert edited["text"] == "Cy draws."
    assert (gone["state"], gone["invalidation_reason"]) == ("invalidated", "wrong")
    assert back["state"] == "valid"


def test_a_bank_is_described_changed_and_deleted(here: Caller) -> None:
    use_tool(here, "create_bank", "/mcp", bank_id="short-lived", name="Short")

    described, _ = use_tool(
        here, "update_bank", "/mcp/short-lived", mission="Be brief.", config_updates={"retain_mission": "Little."}
    )
    missing, is_missing = use_tool(here, "update_bank", "/mcp/nowhere", config_updates={"retain_mission": "m"})
    refused, is_refused = use_tool(here, "update_bank", "/mcp/short-lived", name="Long", config_updates={"nothing": 1})
    kept, _ = use_tool(here, "get_bank", "/mcp/short-lived")
    deleted, _ = use_tool(here, "delete_bank", "/mcp/short-lived")

    assert (described["name"], described["mission"]) == ("Short", "Be brief.")
    assert (missing, is_missing) == ({"error": "Bank 'nowhere' not found"}, True)
    assert is_refused
    assert "nothing" in refused["error"]
    assert kept["name"] == "Short"
    assert deleted["success"] is True


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("recall", {}, "'query' is required"),
        ("recall", {"query": "q", "budget": "huge"}, "budget: Input should be 'low', 'mid' or 'high'"),
        ("recall", {"query": "q", "tags": ["a"], "tag_groups": [{"tags": ["b"]}]}, "mutually exclusive"),
        ("retain", {"content": "  "}, "content: Value error, content cannot be empty"),
        ("retain", {"content": "c", "update_mode": "x"}, "update_mode: Input should be 'replace' or 'append'"),
        ("list_memories", {"limit": -1}, "limit: Input should be greater than or equal to 0"),
        ("list_operations", {"limit": 101}, "limit: Input should be less than or equal to 100"),
        ("get_memory", {"memory_id": "x/history"}, "'memory_id' must not hold a slash"),
        ("get_document", {"document_id": "none/history"}, "Document not found"),
        ("create_mental_model", {"name": "n", "source_query": "q", "trigger": {"mode": "x"}}, "trigger.mode: Input"),
    ],
)
def test_a_tool_says_what_is_wrong_in_the_routes_words(
    here: Caller, seeded: Seeded, name: str, arguments: dict[str, Any], sentence: str
) -> None:
    said, is_error = use_tool(here, name, f"/mcp/{seeded.bank}", **arguments)

    assert is_error
    assert sentence in said.get("error", said.get("message"))


def test_a_reflect_that_takes_longer_than_the_call_names_its_operation(
    module_store: PostgresStore, module_tenant: TenantId
) -> None:
    hurried = make_caller(make_services(module_store, module_tenant, hindsight_reflect_url_wait_seconds=0.01))

    first, is_error = use_tool(hurried, "reflect", "/mcp/slow", query="What about bees?")
    again, _ = use_tool(hurried, "reflect", "/mcp/slow", query="What about bees?")
    operation, _ = use_tool(hurried, "get_operation", "/mcp/slow", operation_id=first["operation_id"])

    assert is_error
    assert first["error"].startswith("The answer is still being worked on")
    assert first["retry_after_seconds"] > 0
    assert again["operation_id"] == first["operation_id"]
    assert (operation["operation_type"], operation["status"]) == ("reflect", "processing")


def test_a_bank_says_which_tools_its_clients_may_use(here: Caller) -> None:
    use_tool(here, "create_bank", "/mcp", bank_id="read-only")
    use_tool(here, "update_bank", "/mcp/read-only", config_updates={"mcp_enabled_tools": ["recall", "no-such-tool"]})

    listed = ask(here, "tools/list", path="/mcp/read-only")["result"]["tools"]
    refused = ask(here, "tools/call", {"name": "retain", "arguments": {"content": "c"}}, "/mcp/read-only")
    through_argument = {"name": "get_bank", "arguments": {"bank_id": "read-only"}}
    refused_too = ask(here, "tools/call", through_argument, "/mcp")
    everywhere_else = ask(here, "tools/list", path="/mcp/another")["result"]["tools"]

    assert [tool["name"] for tool in listed] == ["recall"]
    assert refused["error"] == {"code": -32602, "message": "Unknown tool: retain"}
    assert refused_too["error"] == {"code": -32602, "message": "Unknown tool: get_bank"}
    assert len(everywhere_else) == 36


def test_the_server_says_it_for_every_bank_that_does_not(
    module_store: PostgresStore, module_tenant: TenantId, here: Caller
) -> None:
    use_tool(here, "create_bank", "/mcp", bank_id="outspoken")
    use_tool(here, "update_bank", "/mcp/outspoken", config_updates={"mcp_enabled_tools": ["reflect"]})
    defaults = (("mcp_enabled_tools", '["recall", "retain"]'),)
    quiet = make_caller(make_services(module_store, module_tenant, bank_defaults=defaults))

    listed = {path: ask(quiet, "tools/list", path=path)["result"]["tools"] for path in ("/mcp/any", "/mcp/outspoken")}

    names = {path: [tool["name"] for tool in tools] for path, tools in listed.items()}
    assert names == {"/mcp/any": ["retain", "recall"], "/mcp/outspoken": ["reflect"]}


def test_a_tool_makes_a_bank_only_where_its_route_does(here: Caller) -> None:
    for name in ("get_bank", "get_bank_stats", "list_tags", "list_memories", "list_operations", "create_directive"):
        _, is_error = use_tool(here, name, "/mcp", bank_id="never-made", name="n", content="c")
        assert is_error, name
    use_tool(here, "retain", "/mcp", bank_id="made-by-retain", content="Ada keeps bees.")
    use_tool(here, "create_mental_model", "/mcp", bank_id="made-by-model", name="n", source_query="Who?")

    banks, _ = use_tool(here, "list_banks", "/mcp", query="made")

    assert sorted(bank["bank_id"] for bank in banks["banks"]) == ["made-by-model", "made-by-retain"]


def test_tools_that_many_banks_need_are_not_on_the_server_of_one(here: Caller) -> None:
    for name in ("list_banks", "create_bank", "get_bank_stats"):
        refused = ask(here, "tools/call", {"name": name, "arguments": {"bank_id": "b"}})

        assert refused["error"]["message"] == f"Unknown tool: {name}"


def test_an_answer_that_no_event_can_carry_is_refused_in_words(
    here: Caller, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LARGEST_BODY", 100)

    said, is_error = use_tool(here, "list_memories", f"/mcp/{seeded.bank}")

    assert (said, is_error) == ({"error": results.TOO_LARGE}, True)


def test_a_batch_is_answered_message_by_message(here: Caller) -> None:
    unheard = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    batch = [PING, unheard, {**PING, "id": "two", "method": "nope"}, 7, {**PING, "id": 3, "method": "initialize"}]

    answers = post(here, batch).json()
    nothing_to_say = post(here, [unheard, {"jsonrpc": "2.0", "id": 1, "result": {}}])

    assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
        (1, None), ("two", -32601), (None, -32600), (3, -32600),
    ]  # fmt: skip
    assert (nothing_to_say.status, nothing_to_say.body) == (202, b"")


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        (b"{", {}, 400, -32700),
        (b"", {}, 400, -32700),
        (b"[" * 50_000, {}, 400, -32700),
        ([], {}, 400, -32600),
        ([PING], {"mcp_protocol_version": "2025-06-18"}, 400, -32600),
        (PING, {"mcp_protocol_version": "1999-01-01"}, 400, -32022),
        (PING, {"mcp_protocol_version": "2026-07-28"}, 400, -32602),
        ({**PING, "params": {"_meta": META}}, {"mcp_protocol_version": "2026-07-28"}, 400, -32020),
        (
            {**PING, "params": {"_meta": META}},
            {"mcp_protocol_version": "2026-07-28", "mcp_method": "ping"},
            404,
            -32601,
        ),
        ({**PING, "method": "tools/call"}, {}, 200, -32602),
        ({**PING, "method": "tools/call", "params": {"name": ["x"]}}, {}, 200, -32602),
        ({**PING, "method": "tools/call", "params": {"name": "recall", "arguments": []}}, {}, 200, -32602),
        ({**PING, "method": "tools/list", "params": {"cursor": "x"}}, {}, 200, -32602),
        ({**PING, "method": "initialize", "params": {}}, {}, 200, -32602),
        ({**PING, "method": "resources/list"}, {}, 200, -32601),
        ({**PING, "id": {"a": 1}}, {}, 400, -32600),
        ("ping", {}, 400, -32600),
    ],
)
def test_a_hostile_message_gets_its_code(
    here: Caller, message: object, headers: dict[str, str], status: int, code: int
) -> None:
    answer = post(here, message, **headers)

    assert (answer.status, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("text", ["\x00", "\ud800", "'; DROP TABLE banks; --", "../../admin", "%2e%2e%2f", "é" * 3_000])
def test_hostile_text_never_breaks_a_tool(here: Caller, text: str) -> None:
    for arguments in ({"bank_id": text}, {"bank_id": "b", "document_id": text}, {"document_id": "d", text: text}):
        answer = ask(here, "tools/call", {"name": "get_document", "arguments": arguments}, "/mcp")

        assert answer["result"]["isError"] is True
    stored, is_error = use_tool(here, "sync_retain", "/mcp/hostile", content=f"Ada. {text}", tags=[text], context=text)
    assert not is_error or "message" in stored


def test_only_post_is_served_and_only_json(here: Caller) -> None:
    for verb in ("GET", "DELETE", "PUT"):
        answer = here(verb, "/mcp/b")

        assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert post(here, PING, content_type="text/plain").status == 415


def test_a_slash_too_many_leads_to_the_server_of_many_banks(rooms: FakeRuntime, here: Caller) -> None:
    """An HTTP API hands `/mcp/` to the function that serves what no route names."""
    redirected = post(make_caller(rooms, groups=frozenset({"admin"})), PING, "/mcp/")

    assert (redirected.status, redirected.headers["location"]) == (308, "/mcp")
    assert post(here, PING, "/mcp/").status == 200


def test_a_tools_call_stands_in_the_audit_log_as_one_by_mcp(here: Caller) -> None:
    use_tool(here, "create_bank", "/mcp", bank_id="audited")
    use_tool(here, "update_bank", "/mcp/audited", config_updates={"audit_log_enabled": True})

    use_tool(here, "create_directive", "/mcp/audited", name="n", content="c")

    entry = here("GET", "/v1/default/banks/audited/audit-logs").json()["items"][0]
    assert (entry["action"], entry["transport"]) == ("create_directive", "mcp")


def test_a_bank_may_be_named_in_any_script(here: Caller) -> None:
    use_tool(here, "create_bank", "/mcp", bank_id="béta-記憶")

    asked = {"name": "get_bank"}
    by_header = ask(here, "tools/call", asked, "/mcp", x_bank_id="béta-記憶")
    by_path = ask(here, "tools/call", asked, "/mcp/b%C3%A9ta-%E8%A8%98%E6%86%B6")

    for result in (by_header["result"], by_path["result"]):
        assert json.loads(result["content"][0]["text"])["bank_id"] == "béta-記憶"


def test_a_client_that_takes_streams_alone_gets_one_event(here: Caller) -> None:
    streamed = post(here, PING, accept="text/event-stream")
    plain = post(here, PING, accept="application/json, text/event-stream")

    assert streamed.headers["content-type"].startswith("text/event-stream")
    name, data = streamed.body.decode().strip().split("\n")
    assert name == "event: message"
    assert json.loads(data.removeprefix("data: ")) == plain.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    ("origin", "environment", "status"),
    [
        ("http://localhost:6274", "local", 200),
        ("http://attacker.example", "local", 403),
        ("http://attacker.example:8888", "local", 403),
        ("null", "local", 403),
        ("http://[", "local", 403),
        ("https://app.example", "local", 200),
        ("http://localhost:6274", "cloud", 403),
        ("https://app.example", "cloud", 200),
    ],
)
def test_a_page_calls_only_from_where_it_may(
    module_store: PostgresStore, module_tenant: TenantId, origin: str, environment: str, status: int
) -> None:
    tenant = module_tenant if environment == "local" else None
    named = {"hindsight_environment": environment, "hindsight_mcp_allowed_origins": ("https://app.example",)}
    caller = make_caller(make_services(module_store, tenant, **named))

    answer = post(caller, PING, origin=origin)

    assert answer.status == (401 if status == 200 and environment == "cloud" else status)


def test_mcp_can_be_switched_off(module_store: PostgresStore, module_tenant: TenantId) -> None:
    off = make_caller(make_services(module_store, module_tenant, hindsight_api_mcp_enabled=False))

    answer = post(off, PING)

    assert answer.status == 404
    assert answer.json() == {"detail": "MCP is disabled. Set HINDSIGHT_API_MCP_ENABLED=true to enable it."}
    assert off("GET", "/version").json()["features"]["mcp"] is False
