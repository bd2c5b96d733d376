"""The harness refuses what it does not know, and reads every word of the neutral form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.conftest import OURS
from tests.cases.reading import UnknownWord, in_small, read_case, read_cases
from tests.cases.scripting import scripted

WORDS = (
    "retain", "consolidate", "recall", "reflect", "config", "stats", "get_config", "get_document", "delete_document",
    "clear_memories", "delete_bank", "get_operation", "directive", "dry_run", "drain", "parallel", "sqs_event",
    "api_event", "redeliver", "kill_db_sockets", "stub_recovers", "start_consolidation_blocked", "unblock",
)  # fmt: skip


def a_case(**given: Any) -> dict[str, Any]:
    """A case with this input."""
    return {"id": "X1", "area": "queue", "input": {"steps": [], "expect": {}, **given}}


@pytest.mark.parametrize("word", WORDS)
def test_every_step_of_the_neutral_form_is_known(word: str) -> None:
    case = read_case(a_case(steps=[{"do": word}]))

    assert [step.do for step in case.steps] == [word]


@pytest.mark.parametrize(
    "given",
    [
        {"steps": [{"do": "juggle"}]},
        {"steps": [{"do": "recall", "bank": "b", "colour": "red"}]},
        {"steps": [{"do": "parallel", "steps": [{"do": "juggle"}]}]},
        {"expect": {"luck": True}},
        {"stub_llm": {"embedding": "same"}},
        {"setup": {"weather": "fair"}},
        {"config": {"chunk_size": 3}},
        {"weather": "fair"},
    ],
)
def test_an_unknown_word_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UnknownWord, match="X1"):
        read_case(a_case(**given))


def test_our_own_cases_are_all_read() -> None:
    cases = read_cases(OURS)

    assert len(cases) == len({case.id for case in cases}) == 44


def test_a_generated_text_is_shorter_in_the_small_dose_and_as_many_facts_are_expected() -> None:
    steps = [{"do": "retain", "bank": "b", "generate": {"lines": 600, "pattern": "{n}"}}]

    case = in_small(read_case(a_case(steps=steps, expect={"facts_count": 600, "max_message_bytes": 9})), 10)

    assert case.steps[0].fields["generate"] == {"lines": 10, "pattern": "{n}"}
    assert case.expect == {"facts_count": 10, "max_message_bytes": 9}


def test_replies_are_put_into_the_words_of_the_model_contract() -> None:
    reply = {"facts": [{"text_repeat": ["ab", 2], "entities": ["Zoe"], "occurred_start": "2026-03-01"}, "odd"]}

    recorded = scripted("extract", reply, lambda kind, number: None)

    dated = {"fact_type": "world", "fact_kind": "event", "occurred_start": "2026-03-01"}
    assert recorded == {"facts": [{"what": "abab", **dated, "entities": [{"text": "Zoe"}]}, "odd"]}


def test_ids_stand_in_for_their_aliases_and_an_alias_of_nothing_stays() -> None:
    known = {("F", 1): "fact-one", ("O", 12): "observation-twelve"}

    reply = scripted("consolidate", {"x": ["$F1", "RAW:$O12,$F2"]}, lambda kind, number: known.get((kind, number)))

    assert reply == {"x": ["fact-one", "RAW:observation-twelve,$F2"]}
