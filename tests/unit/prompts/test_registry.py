"""The prompt library: every file has its identity and no place for foreign text."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from hindsight_aws.prompts import prompt
from hindsight_aws.prompts.contract import TASKS, Task
from hindsight_aws.prompts.registry import _parse

PROMPTS = sorted(
    entry.name.removesuffix(".md") for entry in files("hindsight_aws.prompts").iterdir() if entry.name.endswith(".md")
)


def task_of(prompt_id: str) -> Task:
    """The task a prompt is for: its own name, or that of the task it is a way of (`extract_facts_verbose`)."""
    return next(TASKS[name] for name in (prompt_id, prompt_id.rpartition("_")[0]) if name in TASKS)


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_every_prompt_loads_under_its_own_name(prompt_id: str) -> None:
    loaded = prompt(prompt_id)

    assert loaded.ref == f"{prompt_id}@{loaded.version}"
    assert loaded.version >= 1
    assert loaded.text
    assert task_of(prompt_id).name in TASKS


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_every_prompt_says_that_blocks_are_material_and_names_its_tool(prompt_id: str) -> None:
    text, task = prompt(prompt_id).text, task_of(prompt_id)

    assert "<data kind=" in text
    assert re.search(r"never (act|an instruction|instructions)|only something that was said|is material", text)
    assert all(f"`{tool.name}`" in text for tool in task.tools if task.choice == "forced")


def test_there_is_an_extraction_prompt() -> None:
    assert "extract_facts" in PROMPTS


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
