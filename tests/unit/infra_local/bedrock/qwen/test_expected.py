"""From tools to the schema a reply is held to, and from the reply back to Converse's terms."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract import TASKS
from infra.local.bedrock.converse import Request
from infra.local.bedrock.qwen.expected import bounded, expected_of

LOOK = Tool("look", "Finds.", {
    "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], "additionalProperties": False,
})  # fmt: skip
DONE = Tool("done", "Ends.", {
    "type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"],
    "additionalProperties": False,
})  # fmt: skip


def asked(*tools: Tool, choice: str = "auto") -> Request:
    return Request("m", (), (), tools, choice, {}, 100)


def takes(schema: JsonObject | None, document: object) -> bool:
    assert schema is not None
    return Draft202012Validator(schema).is_valid(document)


def test_a_forced_tool_leaves_only_its_input_open() -> None:
    expected = expected_of(asked(LOOK, DONE, choice="look"))

    assert expected.forced == "look"
    assert takes(expected.schema, {"query": "kayak"})
    assert not takes(expected.schema, {"answer": "kayak"})
    assert not takes(expected.schema, {"tool": "look", "input": {"query": "kayak"}})


def test_of_several_tools_one_is_chosen_together_with_an_input_of_its_own_form() -> None:
    schema = expected_of(asked(LOOK, DONE, choice="any")).schema

    assert takes(schema, {"tool": "look", "input": {"query": "kayak"}})
    assert takes(schema, {"tool": "done", "input": {"answer": "a kayak"}})
    assert not takes(schema, {"tool": "done", "input": {"query": "kayak"}})
    assert not takes(schema, {"tool": "erase", "input": {}})
    assert not takes(schema, {"answer": "free text"})


def test_the_tools_name_is_written_before_its_input() -> None:
    schema = expected_of(asked(LOOK, DONE, choice="any")).schema

    assert schema is not None
    assert isinstance(ways := schema["anyOf"], list)
    assert [
        list(way["properties"]) for way in ways if isinstance(way, dict) and isinstance(way["properties"], dict)
    ] == [
        ["tool", "input"],
        ["tool", "input"],
    ]


def test_the_only_tool_of_any_is_as_good_as_forced() -> None:
    assert expected_of(asked(LOOK, choice="any")).forced == "look"


def test_where_tools_are_optional_a_plain_answer_may_come_instead() -> None:
    expected = expected_of(asked(LOOK, choice="auto"))

    assert takes(expected.schema, {"answer": "I know that already."})
    assert expected.read('{"answer": "I know that already."}').text == "I know that already."
    assert expected.read('{"tool": "look", "input": {"query": "kayak"}}').tool == "look"


def test_without_tools_the_text_is_free() -> None:
    expected = expected_of(asked())

    assert expected.schema is None
    assert expected.read("Good morning.").text == "Good morning."


def test_a_reply_is_read_back_as_the_use_of_its_tool() -> None:
    forced = expected_of(asked(LOOK, choice="look")).read('{"query": "kayak"}')
    chosen = expected_of(asked(LOOK, DONE, choice="any")).read('{"tool": "done", "input": {"answer": "yes"}}')

    assert (forced.tool, forced.input, forced.stop) == ("look", {"query": "kayak"}, "tool_use")
    assert (chosen.tool, chosen.input, chosen.stop) == ("done", {"answer": "yes"}, "tool_use")


@pytest.mark.parametrize("said", ["prose", "[1, 2]", '"text"', '{"query": '])
def test_what_is_no_object_is_handed_on_as_text(said: str) -> None:
    reply = expected_of(asked(LOOK, choice="look")).read(said)

    assert (reply.tool, reply.text, reply.stop) == (None, said, "end_turn")


def test_a_schema_keeps_only_keywords_that_a_grammar_can_be_made_of() -> None:
    wild: JsonObject = {
        "type": "object", "title": "T", "description": "D", "examples": [1], "format": "x",
        "properties": {"description": {"type": "string", "pattern": "(?=x)", "description": "said to readers"}},
        "required": ["description"],
    }  # fmt: skip

    assert bounded(wild) == {
        "type": "object",
        "properties": {"description": {"type": "string", "maxLength": 1500}},
        "required": ["description"],
    }


def test_every_text_and_list_has_a_bound_so_that_no_repetition_goes_on_forever() -> None:
    bound = bounded({"type": "array", "items": {"type": "string"}})

    assert bound == {"type": "array", "items": {"type": "string", "maxLength": 1500}, "maxItems": 12}
    assert bounded({"type": "string", "enum": ["a"]}) == {"type": "string", "enum": ["a"]}
    assert bounded({"type": "string", "maxLength": 3}) == {"type": "string", "maxLength": 3}


@pytest.mark.parametrize("tool", [tool for task in TASKS.values() for tool in task.tools], ids=lambda tool: tool.name)
def test_every_tool_of_the_contract_makes_a_schema(tool: Tool) -> None:
    schema = expected_of(asked(tool, choice=tool.name)).schema

    assert schema is not None
    Draft202012Validator.check_schema(schema)
    assert '"description": "' not in json.dumps(schema)
