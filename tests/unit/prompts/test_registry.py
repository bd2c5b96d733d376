"""The prompt library: every file has its identity and no place for foreign text."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from hindsight_aws.prompts import prompt, prompt_ids
from hindsight_aws.prompts.contract import TASKS
from hindsight_aws.prompts.contract.retain import RECORD_FACTS
from hindsight_aws.prompts.registry import _parse


@pytest.mark.parametrize("prompt_id", prompt_ids())
def test_every_prompt_loads_under_its_own_name(prompt_id: str) -> None:
    loaded = prompt(prompt_id)

    assert loaded.ref == f"{prompt_id}@{loaded.version}"
    assert loaded.version >= 1
    assert loaded.text
    assert prompt_id in TASKS


@pytest.mark.parametrize("prompt_id", prompt_ids())
def test_every_prompt_says_that_blocks_are_material_and_names_its_tool(prompt_id: str) -> None:
    text = prompt(prompt_id).text

    assert "<data kind=" in text
    assert re.search(r"never (act|an instruction|instructions)|only something that was said|is material", text)
    assert all(f"`{tool.name}`" in text for tool in TASKS[prompt_id].tools if TASKS[prompt_id].choice == "forced")


def test_there_is_an_extraction_prompt() -> None:
    assert "extract_facts" in prompt_ids()


def test_the_example_in_the_extraction_prompt_keeps_the_schema() -> None:
    text = prompt("extract_facts").text
    shown = re.findall(r"`(\{.*\})`", text)

    answer = json.loads(shown[-1])

    jsonschema.validate(answer, RECORD_FACTS.schema)
    assert answer["facts"][1]["caused_by"] == [0]


def test_the_extraction_prompt_explains_every_field_of_a_fact() -> None:
    schema = json.loads(json.dumps(RECORD_FACTS.schema))
    fields = schema["properties"]["facts"]["items"]["properties"]

    assert [field for field in fields if f"`{field}`" not in prompt("extract_facts").text] == []


@pytest.mark.parametrize("prompt_id", ["nobody", "../errors", "extract_facts.md", ""])
def test_an_unknown_prompt_is_a_key_error(prompt_id: str) -> None:
    with pytest.raises(KeyError):
        prompt(prompt_id)


@pytest.mark.parametrize(
    "source",
    [
        "no front matter",
        "---\nid: x\n---\ntext",
        "---\nid: y\nversion: 1\n---\ntext",
        "---\nid: x\nversion: one\n---\nt",
    ],
)
def test_front_matter_that_is_not_sound_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"front matter|invalid literal"):
        _parse("x", source)
