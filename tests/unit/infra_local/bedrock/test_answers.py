"""The other tasks by rule: what is said keeps the contract's schemas and rests on what was shown."""

from __future__ import annotations

import jsonschema
import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, Tool
from hindsight_aws.prompts.contract import TASKS, Task
from infra.local.bedrock import rules
from infra.local.bedrock.converse import Request
from infra.local.bedrock.rules import directives, mental_models, reflect
from infra.local.bedrock.rules.filling import filled
from tests.unit.infra_local.bedrock.support import material

RESULTS: tuple[JsonObject, ...] = (
    {"observations": [{"id": "o1", "text": "Ada lives in Graz", "mentioned_at": "2026-01-01T10:00"}]},
    {"memories": [{"id": "f1", "text": "Ada lives near a park"}, {"id": "f2", "text": "Bob sells bread"}]},
)
QUESTION: JsonObject = {"text": "Where does Ada live?"}


def request(tools: tuple[Tool, ...], choice: str, task: str) -> Request:
    return Request("m", (), (), tools, choice, {"task": task}, 100)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
@pytest.mark.parametrize("results", [(), RESULTS], ids=["nothing", "something"])
def test_every_task_is_answered_within_its_schema(task: Task, results: tuple[JsonValue, ...]) -> None:
    asked = request(task.tools, task.tools[0].name if task.choice == "forced" else "any", task.name)

    reply = rules.answer(task.name, asked, material(*results, question=QUESTION, answer={"text": "Ada lives in Graz."}))

    schema = next(tool.schema for tool in task.tools if tool.name == reply.tool)
    jsonschema.validate(reply.input, schema)


def test_the_task_is_read_from_metadata_else_from_the_forced_or_only_tool() -> None:
    tool = TASKS["extract_facts"].tools[0]

    assert rules.task_of(request((tool,), "auto", "extract_facts")) == "extract_facts"
    assert rules.task_of(request((tool,), "auto", "unheard of")) == "extract_facts"
    assert rules.task_of(request((Tool("other", "", {}),), "auto", "")) is None


def test_each_search_tool_is_used_once_and_then_the_run_ends() -> None:
    offered = ["search_observations", "recall", "done"]

    assert reflect.next_tool(offered, [], "any") == "search_observations"
    assert reflect.next_tool(offered, ["search_observations"], "any") == "recall"
    assert reflect.next_tool(offered, ["search_observations", "recall"], "any") == "done"
    assert reflect.next_tool(offered, [], "recall") == "recall"


def test_an_answer_rests_on_what_shares_words_with_the_question() -> None:
    said = reflect.conclude(material(*RESULTS, question=QUESTION))

    assert said["answer"] == "- Ada lives in Graz (2026-01-01)\n- Ada lives near a park"
    assert (said["observation_ids"], said["memory_ids"]) == (["o1"], ["f1"])
    assert said["answer_found"] is True


def test_without_evidence_nothing_is_claimed() -> None:
    said = reflect.conclude(material(question=QUESTION))

    assert said["answer_found"] is False
    assert said["memory_ids"] == said["observation_ids"] == []


def test_a_forbidden_term_is_neither_said_nor_cited() -> None:
    rule: JsonValue = [{"id": "d1", "content": "Never mention Graz."}]
    said = reflect.conclude(material(*RESULTS, question=QUESTION, directives=rule))

    assert "Graz" not in str(said["answer"])
    assert said["observation_ids"] == []


@pytest.mark.parametrize(
    ("directive", "answer", "is_broken"),
    [
        ('Never say "Graz".', "She lives in Graz.", True),
        ('Never say "Graz".', "She lives there.", False),
        ("Do not mention salaries.", "Their Salaries rose.", True),
        ('Always say "as far as I know".', "She lives there.", True),
        ('Always say "as far as I know".', "As far as I know, there.", False),
        ("Be kind.", "No.", False),
    ],
)
def test_directives_that_forbid_or_demand_a_term_are_checked(directive: str, answer: str, is_broken: bool) -> None:
    rule: JsonValue = [{"id": "d1", "content": directive}]

    said = directives.verify_directives(material(directives=rule, answer={"text": answer}))

    assert bool(said["violations"]) == is_broken


def test_a_rewrite_keeps_whole_sentences_within_its_limit() -> None:
    said = reflect.rewrite(material(answer={"text": "One boat. Two boats are here. Three.", "max_tokens": 7}))

    assert said == {"answer": "One boat. Three."}


PAGE: JsonObject = {
    "sections": [
        {"id": "s1", "heading": "Ada", "level": 2, "blocks": [{"id": "b1", "text": "Ada lives in Graz."}]}
    ]
}  # fmt: skip


def test_a_page_gains_only_what_no_block_says() -> None:
    evidence: JsonValue = [{"id": "f1", "text": "Ada lives in Graz"}, {"id": "f2", "text": "Bob sells bread"}]

    said = mental_models.refresh_ops(material(document=PAGE, evidence=evidence))

    assert said == {"operations": [{"op": "append_block", "section_id": "s1", "text": "Bob sells bread"}]}


def test_a_page_loses_what_rested_on_things_that_are_gone() -> None:
    gone: JsonValue = [{"id": "f1", "text": "Ada lives in Graz"}]

    said = mental_models.retract(material(document=PAGE, retracted=gone))

    assert said == {"operations": [{"op": "remove_block", "section_id": "s1", "block_id": "b1"}]}


def test_a_callers_schema_is_filled_with_what_the_answer_says() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "enum": ["Rome", "Graz"]},
            "year": {"type": "integer"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "known": {"type": ["boolean", "null"]},
        },
    }

    assert filled(schema, "Ada came to Graz in 2019. She stayed.") == {
        "city": "Graz",
        "year": 2019,
        "notes": ["Ada came to Graz in 2019.", "She stayed."],
        "known": True,
    }
