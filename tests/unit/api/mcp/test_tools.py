"""Arguments are read as models send them; each tool asks its routes and no others."""

from __future__ import annotations

import pytest

from hindsight_aws.api.mcp.arguments import read_arguments
from hindsight_aws.api.mcp.catalogue import TOOLS
from hindsight_aws.api.mcp.tool import BANK, RouteCall, Tool, at
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from tests.support.mcp import recorded_tools

HERE = "/v1/default/banks/b"
ID = "11111111-1111-4111-8111-111111111111"


def calls(name: str, /, **given: JsonValue) -> list[RouteCall]:
    tool = TOOLS[name]
    return list(tool.ask(read_arguments(tool, given, bank="b", of_many=False)))


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_goes_somewhere(name: str) -> None:
    tool = TOOLS[name]
    given = _given(tool)

    asked = str(list(tool.ask(read_arguments(tool, given, bank="b", of_many=False))))

    given.pop("bank_id", None)
    if "mental_model" in name:
        # The whole and its shorthands are one thing.
        given.pop("tags_match", None)
    unheard = [argument for argument in given if _mark(argument) not in asked and argument not in _SWITCHES]
    assert unheard == []


@pytest.mark.parametrize(
    ("name", "given", "method", "path", "query", "body"),
    [
        ("list_banks", {"query": "x"}, "GET", "/v1/default/banks", {"q": "x", "limit": "100", "offset": "0"}, None),
        ("get_bank", {}, "GET", f"{HERE}/profile", {}, None),
        ("delete_bank", {}, "DELETE", HERE, {}, None),
        ("get_document", {"document_id": "a/b c%"}, "GET", f"{HERE}/documents/a%2Fb%20c%25", {}, None),
        ("list_memories", {"tags": '["x","y"]'}, "GET", f"{HERE}/memories/list", {"tags": "y"}, None),
        ("list_memories", {"tags": "x"}, "GET", f"{HERE}/memories/list", {"tags": "x"}, None),
        ("list_directives", {"active_only": False}, "GET", f"{HERE}/directives", {"active_only": "false"}, None),
        ("invalidate_memory", {"memory_id": ID}, "PATCH", f"{HERE}/memories/{ID}", {}, {"state": "invalidated"}),
        (
            "invalidate_memory",
            {"memory_id": ID, "restore": True, "reason": "r"},
            "PATCH",
            f"{HERE}/memories/{ID}",
            {},
            {"state": "valid", "reason": "r"},
        ),
        (
            "update_memory",
            {"memory_id": ID, "text": "t", "occurred_end": "", "context": None},
            "PATCH",
            f"{HERE}/memories/{ID}",
            {},
            {"text": "t", "occurred_end": "", "resolve_entities": True},
        ),
        (
            "create_mental_model",
            {"name": "n", "source_query": "q", "mental_model_id": "i", "trigger_refresh_after_consolidation": True},
            "POST",
            f"{HERE}/mental-models",
            {},
            {
                "name": "n",
                "source_query": "q",
                "max_tokens": 2048,
                "id": "i",
                "trigger": {"refresh_after_consolidation": True},
            },
        ),
        (
            "update_mental_model",
            {"mental_model_id": "m", "trigger": {"mode": "delta", "budget": None}, "tags_match": "all"},
            "PATCH",
            f"{HERE}/mental-models/m",
            {},
            {"trigger": {"mode": "delta", "tags_match": "all"}},
        ),
        (
            "reflect",
            {"query": "q", "include_based_on": True, "response_schema": '{"type": "object"}'},
            "POST",
            f"{HERE}/reflect",
            {},
            {
                "query": "q",
                "budget": "low",
                "max_tokens": 4096,
                "response_schema": {"type": "object"},
                "tags_match": "any",
                "apply_all_directives": False,
                "include": {"facts": {}},
            },
        ),
    ],
)
def test_a_tool_asks_its_route(
    name: str, given: JsonObject, method: str, path: str, query: dict[str, str], body: JsonObject | None
) -> None:
    (call,) = calls(name, **given)

    assert (call.method, call.path, call.body) == (method, path, body)
    assert query.items() <= dict(call.query).items()


def test_a_bank_is_looked_for_before_its_settings_are_changed() -> None:
    asked = calls("update_bank", name="n", config_updates={"retain_mission": "m"})

    assert [(call.method, call.path, call.body) for call in asked] == [
        ("PATCH", HERE, {}),
        ("PATCH", f"{HERE}/config", {"updates": {"retain_mission": "m"}}),
        ("PATCH", HERE, {"name": "n"}),
    ]
    assert [call.body for call in calls("update_bank", mission="m")] == [{"mission": "m"}]


@pytest.mark.parametrize("wrong", ["a/b", "", 7, None, ["b"]])
def test_an_id_that_could_lead_elsewhere_is_refused(wrong: JsonValue) -> None:
    with pytest.raises(InvalidRequest, match="'memory_id' must"):
        at(f"{BANK}/memories/{{memory_id}}", {"bank_id": "b", "memory_id": wrong})


def test_an_id_never_reads_as_a_part_of_the_path() -> None:
    path = at(f"{BANK}/memories/{{memory_id}}", {"bank_id": "{memory_id}?x#y", "memory_id": "..%2f"})

    assert path == "/v1/default/banks/%7Bmemory_id%7D%3Fx%23y/memories/..%252f"


def test_unknown_arguments_are_dropped_and_missing_ones_named() -> None:
    tool = TOOLS["recall"]

    read = read_arguments(tool, {"query": "q", "bank_id": "other", "what": 1}, bank="b", of_many=False)

    assert read["bank_id"] == "b"
    assert "what" not in read
    assert read["budget"] == "high"
    with pytest.raises(InvalidRequest, match="'query' is required"):
        read_arguments(tool, {"query": None}, bank="b", of_many=False)


def test_on_the_server_of_many_banks_the_argument_names_the_bank() -> None:
    tool = TOOLS["get_bank"]

    assert read_arguments(tool, {"bank_id": "c"}, bank="b", of_many=True) == {"bank_id": "c"}
    assert read_arguments(tool, {"bank_id": None}, bank="b", of_many=True) == {"bank_id": "b"}


_SWITCHES = {
    "include_chunks",
    "include_entities",
    "include_source_facts",
    "include_based_on",
    "include_trace",
    "restore",
}


def _mark(argument: str) -> str:
    return "True" if argument.endswith("refresh_after_consolidation") else f"x-{argument}-x"


def _given(tool: Tool) -> JsonObject:
    """A value for each argument that tells which one it was."""
    given: JsonObject = {}
    for name in recorded_tools("multi")[tool.name]["params"]["properties"]:
        if name in _SWITCHES or name.endswith("refresh_after_consolidation"):
            given[name] = True
        elif name == "trigger":
            given[name] = {"refresh_cron": "x-trigger-x"}
        elif name == "bank_id":
            given[name] = "b"
        else:
            given[name] = f"x-{name}-x"
    return given


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({"parent_id": ""}, {"parent_id": None}),
        ({"parent_id": "kf-1"}, {"parent_id": "kf-1"}),
        ({"name": "n"}, {"name": "n"}),
    ],
    ids=["root", "folder", "stays"],
)
def test_a_node_is_moved_to_the_root_by_an_empty_text(given: JsonObject, body: JsonObject) -> None:
    (call,) = TOOLS["update_knowledge_node"].ask({"bank_id": "b", "node_id": "kp-1", **given})

    assert (call.method, call.path) == ("PATCH", "/v1/default/banks/b/knowledge-base/nodes/kp-1")
    assert call.body == body
