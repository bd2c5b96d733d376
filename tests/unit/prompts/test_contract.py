"""The model contract: what Bedrock accepts, what the design names, what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool
from hindsight_aws.prompts.contract import TASKS, Task, as_document, as_json
from hindsight_aws.prompts.contract import reflect as reflect_contract
from hindsight_aws.prompts.contract.retain import record_facts

_REJECTED = {"minimum", "maximum", "minItems", "maxItems", "pattern", "minLength", "maxLength", "default", "$ref"}
_TOOLS = [
    *((task.name, tool) for task in TASKS.values() for tool in task.tools),
    ("extract_facts, nullable", record_facts(frozenset({"what", "labels"}), nullable=True)),
]
_IDS = [f"{task}/{tool.name}" for task, tool in _TOOLS]


def schemas_in(schema: JsonValue) -> Iterator[JsonObject]:
    """Each schema within a schema; the names of properties are no keywords."""
    if isinstance(schema, dict):
        yield schema
        properties = schema.get("properties")
        for inner in properties.values() if isinstance(properties, dict) else ():
            yield from schemas_in(inner)
        yield from schemas_in(schema.get("items"))
        options = schema.get("anyOf")
        for option in options if isinstance(options, list) else ():
            yield from schemas_in(option)


def test_the_tasks_are_those_of_the_design() -> None:
    assert set(TASKS) == {
        "extract_facts", "consolidate", "judge_duplicate", "reflect_turn", "reflect_closing", "reflect_claims",
        "reflect_synthesis", "reflect_rewrite", "structured_answer", "verify_directives", "refresh_document",
        "refresh_ops", "retract",
    }  # fmt: skip


@pytest.mark.parametrize(("_task", "tool"), _TOOLS, ids=_IDS)
def test_no_schema_uses_a_keyword_that_bedrock_rejects(_task: str, tool: Tool) -> None:
    used = {keyword for schema in schemas_in(tool.schema) for keyword in schema}

    assert used & _REJECTED == set()
    assert used <= {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}


@pytest.mark.parametrize(("_task", "tool"), _TOOLS, ids=_IDS)
def test_every_object_is_closed_and_requires_only_what_it_has(_task: str, tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    for schema in schemas_in(tool.schema):
        if schema.get("type") == "object":
            required, properties = schema["required"], schema["properties"]
            assert schema["additionalProperties"] is False
            assert isinstance(required, list)
            assert isinstance(properties, dict)
            assert set(required) <= set(properties)


@pytest.mark.parametrize("task", [t for t in TASKS.values() if t.choice == "forced"], ids=lambda task: task.name)
def test_a_structured_task_forces_one_tool(task: Task) -> None:
    assert len(task.tools) == 1


def test_tools_are_named_as_in_the_design() -> None:
    names = {name: [tool.name for tool in task.tools] for name, task in TASKS.items()}

    assert names["extract_facts"] == ["record_facts"]
    assert names["consolidate"] == ["revise_observations"]
    assert names["reflect_closing"] == ["done"]
    assert names["reflect_turn"] == [
        "search_mental_models", "read_mental_models", "search_observations", "recall", "expand", "done",
        "answer_ready",
    ]  # fmt: skip
    own_name = set(names) - {"extract_facts", "consolidate", "reflect_closing", "reflect_turn"}
    assert all(names[task] == [task] for task in own_name)


def test_the_ending_asks_for_directives_and_for_documents_only_where_there_are_any() -> None:
    plain = reflect_contract.ending("done").schema
    full = reflect_contract.ending("done", document=True, directives=True).schema

    assert plain["required"] == ["answer", "answer_found"]
    assert full["required"] == ["document", "answer_found", "directive_compliance"]


def test_the_contract_prints_as_json() -> None:
    printed = json.loads(as_json())

    assert printed == as_document()
    assert [task["task"] for task in printed["tasks"]] == list(TASKS)
    assert all(task["data_blocks"] and task["tools"] for task in printed["tasks"])
