"""A run's directives under their aliases, and verdicts on them."""

from __future__ import annotations

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.answer.aftermath import added, told_of
from hindsight_aws.reflect.asking.compliance import (
    Rule,
    broken_block,
    check_verdict,
    rules_block,
    rules_from_json,
    rules_to_json,
    violated,
)
from hindsight_aws.reflect.loop.state import CLOSING_TASK, STRUCTURE_TASK, VERIFY_TASK, Finish

NAMES = Rule("8a5f6c1e-0000-4000-8000-000000000001", "names", "Never name a customer.")
HIDDEN = Rule("8a5f6c1e-0000-4000-8000-000000000002", "tone", "Be brief.", is_seen=False)
RULES = (NAMES, HIDDEN)
ANSWER: JsonObject = {"answer": "Globex pays.", "answer_found": True, "cited": []}


def verdict(*violations: JsonValue) -> JsonObject:
    return {"violations": [*violations]}


def ended(found: JsonObject | None, **failed: str) -> Finish:
    said: dict[str, JsonObject] = {CLOSING_TASK: ANSWER}
    return Finish({**said, VERIFY_TASK: found} if found is not None else said, failed)


def test_rules_survive_the_runs_row_and_are_shown_under_aliases() -> None:
    assert rules_from_json(rules_to_json(RULES)) == RULES
    assert rules_from_json(None) == ()
    assert rules_block(RULES) == [
        {"id": "d1", "name": "names", "content": "Never name a customer."},
        {"id": "d2", "name": "tone", "content": "Be brief."},
    ]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"violations": "none"},
        verdict("d1"),
        verdict({"directive_id": "d3", "reason": "x"}),
        verdict({"reason": "x"}),
    ],
)
def test_a_verdict_that_names_no_directive_is_refused(said: JsonObject) -> None:
    assert check_verdict(said, RULES) is not None


@pytest.mark.parametrize("said", [verdict(), verdict({"directive_id": "d2", "reason": "long"})])
def test_a_verdict_on_known_directives_stands(said: JsonObject) -> None:
    assert check_verdict(said, RULES) is None


def test_a_directive_is_broken_once_however_often_it_is_named() -> None:
    said = verdict({"directive_id": "d1", "reason": "Says\x00 Globex."}, {"directive_id": "d1", "reason": "again"})

    assert violated(said, RULES) == [(NAMES, "Says Globex.")]
    assert broken_block(said, RULES) == [{"content": "Never name a customer.", "reason": "Says Globex."}]


def test_an_answer_tells_its_verdict_and_hides_what_its_caller_may_not_read() -> None:
    both = verdict({"directive_id": "d1", "reason": "Says Globex."}, {"directive_id": "d2", "reason": "Too long."})

    assert added(ended(both), RULES, (VERIFY_TASK,), None) == {
        "structured_output": None,
        "structured_output_error": None,
        "directives_verified": True,
        "directive_violations": [
            {"id": NAMES.id, "name": "names", "reason": "Says Globex."},
            {"withheld": True},
        ],
    }
    assert told_of(RULES, ()) == []


def test_without_a_verdict_an_answer_says_so() -> None:
    told = added(ended(None, **{VERIFY_TASK: "ModelThrottled"}), RULES, (VERIFY_TASK,), None)

    assert (told["directives_verified"], told["directive_violations"]) == (False, [])
    assert told["directives_error"] == "the model was asked too much of at the moment"


def test_an_answer_without_directives_or_without_words_has_no_verdict() -> None:
    assert added(ended(None), (), (), None).keys() == {"structured_output", "structured_output_error"}
    assert added(Finish(), RULES, (VERIFY_TASK,), None).keys() == {"structured_output", "structured_output_error"}


def test_a_structure_that_could_not_be_had_is_told_with_its_reason() -> None:
    failed = Finish({CLOSING_TASK: ANSWER}, {STRUCTURE_TASK: "ModelUnavailable"})

    told = added(failed, (), (STRUCTURE_TASK,), None)

    assert told["structured_output_error"] == "No structured output: the model could not be reached"
    assert added(Finish(), (), (STRUCTURE_TASK,), None)["structured_output_error"] is None
