"""The official MCP client, unmodified, in both ways of the protocol: with a handshake, and with none."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client, MCPError

from hindsight_aws.api.mcp.protocol import HANDSHAKE_VERSIONS, MODERN_VERSIONS
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import FakeRuntime, make_key, make_services
from tests.support.mcp import in_session, recorded_tools
from tests.support.models import one_fact_per_line

MODES = {"legacy": HANDSHAKE_VERSIONS[-1], "auto": MODERN_VERSIONS[-1]}


@pytest.fixture(scope="module")
def services(module_store: PostgresStore, module_tenant: TenantId) -> FakeRuntime:
    services = make_services(module_store, module_tenant)
    services.model.script = one_fact_per_line
    return services


@pytest.mark.parametrize("mode", MODES)
def test_a_session_remembers_and_recalls(services: FakeRuntime, mode: str) -> None:
    async def use(client: Client) -> Any:
        await client.call_tool("sync_retain", {"content": "Ada keeps bees in Lyon.", "tags": ["hobby"]})
        found = await client.call_tool("recall", {"query": "Where does Ada keep bees?"})
        listed = await client.call_tool("list_tags", {})
        return client.protocol_version, client.server_info, found, listed

    version, server, found, listed = in_session(services, f"/mcp/session-{mode}/", use, mode=mode)

    assert version == MODES[mode]
    assert server.name == "hindsight-mcp-server"
    assert not found.is_error
    assert [one["text"] for one in found.structured_content["results"]] == ["Ada keeps bees in Lyon."]
    assert found.structured_content["results"][0]["fact_type"] == "world"
    assert listed.structured_content["items"] == [{"tag": "hobby", "count": 1}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("kind", "path"), [("multi", "/mcp"), ("multi", "/mcp/"), ("single", "/mcp/some-bank")])
def test_the_tools_are_the_recorded_ones(services: FakeRuntime, mode: str, kind: str, path: str) -> None:
    async def use(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in in_session(services, path, use, mode=mode)}

    recorded = recorded_tools(kind)
    assert tools.keys() == recorded.keys()
    for name, tool in tools.items():
        assert _undescribed(tool.input_schema) == recorded[name]["params"], name
        assert tool.description
        hints = tool.annotations.model_dump(exclude_none=True)
        assert {hint: hints[hint] for hint in recorded[name]["annotations"]} == recorded[name]["annotations"], name
        assert "idempotent_hint" in hints


def test_a_failing_tool_says_why_and_the_session_goes_on(services: FakeRuntime) -> None:
    async def use(client: Client) -> Any:
        failed = await client.call_tool("get_memory", {"memory_id": "no-id"})
        return failed, await client.call_tool("get_bank", {})

    failed, bank = in_session(services, "/mcp/session-legacy", use, mode="legacy")

    assert failed.is_error
    assert failed.structured_content == {"error": "Invalid memory_id: 'no-id' is not a valid UUID"}
    assert bank.structured_content["bank_id"] == "session-legacy"


def test_the_server_of_many_banks_takes_the_bank_from_header_or_argument(services: FakeRuntime) -> None:
    async def use(client: Client) -> Any:
        made = await client.call_tool("create_bank", {"bank_id": "argued", "name": "Argued"})
        await client.call_tool("create_bank", {"bank_id": "headed"})
        by_header = await client.call_tool("get_bank", {})
        return made, by_header, await client.call_tool("get_bank", {"bank_id": "argued"})

    made, by_header, by_argument = in_session(services, "/mcp", use, headers={"x-bank-id": "headed"}, mode="legacy")

    assert '"bank_id":"argued"' in made.content[0].text
    assert made.structured_content == {"result": made.content[0].text}
    assert '"bank_id":"headed"' in by_header.content[0].text
    assert '"name":"Argued"' in by_argument.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_a_session_without_a_valid_key_does_not_begin(
    module_store: PostgresStore, owner_store: PostgresStore, module_tenant: TenantId, mode: str
) -> None:
    async def use(client: Client) -> int:
        return len((await client.list_tools()).tools)

    locked = make_services(module_store, None)

    assert in_session(locked, "/mcp/b", use, key=make_key(owner_store, module_tenant), mode=mode) == 36
    for key in (None, "hsk_" + "A" * 43):
        with pytest.raises(ExceptionGroup) as refused:
            in_session(locked, "/mcp/b", use, key=key, mode=mode)
        assert refused.group_contains(MCPError)


def _undescribed(schema: Any) -> Any:
    """The schema without our own words."""
    if not isinstance(schema, dict):
        return [_undescribed(one) for one in schema] if isinstance(schema, list) else schema
    return {name: _undescribed(one) for name, one in schema.items() if name != "description"}
