"""What models write as arguments is understood where it can be, and refused with a sentence where it cannot."""

from __future__ import annotations

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation.calls import (
    WrongArgument,
    ceiling,
    check_call,
    conclusion,
    normalised,
    results,
    texts,
    tokens,
)

ENABLED = ("search_mental_models", "read_mental_models", "search_observations", "recall", "expand")


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        pytest.param(None, 2048, id="X023-null"),
        pytest.param("", 2048, id="X023-blank"),
        pytest.param("None", 2048, id="X023-none"),
        pytest.param(" null ", 2048, id="X023-null-in-words"),
        pytest.param(0, 2048, id="X023-zero"),
        pytest.param(5, 1000, id="X023-too-few"),
        pytest.param("3000", 3000, id="X023-in-digits"),
        pytest.param(1500.0, 1500, id="X023-a-whole-float"),
        pytest.param(999_999, 16_000, id="X023-too-many"),
    ],
)
def test_a_token_budget_is_read_from_what_models_write(said: JsonValue, understood: int) -> None:
    assert tokens({"max_tokens": said}, "max_tokens", 2048) == understood


@pytest.mark.parametrize("said", ["abc", True, [1], {"n": 1}, float("inf"), float("nan"), 12.5, "12.5", "9" * 5_000])
def test_a_budget_that_is_no_number_is_refused(said: JsonValue) -> None:
    """Case [X023]: what is no whole number is answered with an error."""
    with pytest.raises(WrongArgument, match="whole number"):
        tokens({"max_tokens": said}, "max_tokens", 2048)


def test_a_configured_default_is_not_clamped() -> None:
    assert tokens({}, "max_tokens", 50_000, 1_000) == 50_000
    assert tokens({}, "max_tokens", 10) == 10


@pytest.mark.parametrize(
    ("remaining", "at_once", "share"),
    [
        pytest.param(8_000, 2, 4_000, id="X024-two-share"),
        pytest.param(500, 2, 1_000, id="X024-never-below-the-least"),
        pytest.param(-70_000, 1, 1_000, id="X024-nothing-left"),
        pytest.param(100_000, 3, 16_000, id="X024-never-above-the-most"),
        pytest.param(8_000, 0, 8_000, id="X024-alone"),
    ],
)
def test_calls_at_once_share_what_the_conversation_has_left(remaining: int, at_once: int, share: int) -> None:
    most = ceiling(remaining, at_once)

    assert most == share
    assert tokens({"max_tokens": 999_999}, "max_tokens", 2048, most) == share


@pytest.mark.parametrize(("said", "wanted"), [(None, 5), ("none", 5), (0, 5), (3, 3), ("2", 2), (-1, 1), (900, 20)])
def test_a_number_of_results_is_kept_within_reason(said: JsonValue, wanted: int) -> None:
    assert results({"max_results": said}, 5) == wanted


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        pytest.param("functions.done", "done", id="X021-functions"),
        pytest.param("call=done", "done", id="X021-call"),
        pytest.param("call=functions.recall", "recall", id="X021-both"),
        pytest.param("done<|channel|>commentary", "done", id="X021-channel"),
        pytest.param(" recall ", "recall", id="X021-spaces"),
    ],
)
def test_a_tool_is_known_by_its_name_whatever_is_wrapped_around_it(name: str, plain: str) -> None:
    assert normalised(name) == plain


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search_mental_models", {"query": "pets", "max_results": "many"}),
        ("search_mental_models", {"reason": "r"}),
        ("read_mental_models", {"reason": "r"}),
        ("read_mental_models", {"mental_model_ids": ["p1"], "max_tokens": "all"}),
        ("recall", {"query": "pets", "max_chunk_tokens": "x"}),
        ("recall", {"max_tokens": 2_000}),
        ("expand", {"depth": "chunk"}),
        ("expand", {"memory_ids": [f"f{place}" for place in range(51)]}),
    ],
)
def test_missing_and_wrong_arguments_are_answered_with_an_error(name: str, said: JsonObject) -> None:
    assert check_call(name, said, ENABLED) is not None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search_mental_models", {"query": "pets", "max_results": None}),
        ("read_mental_models", {"mental_model_ids": "p1", "max_tokens": "None"}),
        ("recall", {"query": "pets", "max_tokens": "", "max_chunk_tokens": 0}),
        ("expand", {"memory_ids": "f1", "depth": None}),
    ],
)
def test_what_models_leave_unset_in_their_own_ways_is_no_error(name: str, said: JsonObject) -> None:
    assert check_call(name, said, ENABLED) is None


def test_what_supports_a_sentence_is_cited() -> None:
    said: JsonObject = {
        "answer": "In Rome.",
        "memory_ids": "f1",
        "support": [{"sentence": " In Rome. ", "ids": ["f2", 7]}, {"sentence": "", "ids": ["f3"]}, "f4", {"ids": []}],
    }

    read = conclusion(said)

    assert read == {
        "answer": "In Rome.",
        "answer_found": True,
        "cited": ["f1", "f2"],
        "support": [{"sentence": "In Rome.", "ids": ["f2"]}],
    }


def test_a_bare_id_is_a_list_of_one() -> None:
    assert texts({"memory_ids": " f1 "}, "memory_ids") == ("f1",)


def test_aliases_that_share_a_text_are_told_apart() -> None:
    said: JsonObject = {"memory_ids": ["[f1, o2]", "f3; f1", "the first one", "(f4)"]}

    assert texts(said, "memory_ids") == ("f1", "o2", "f3", "the first one", "f4")


@pytest.mark.parametrize("query", [None, "", "  ", "???", 7, "__"])
def test_a_search_for_nothing_is_refused(query: JsonValue) -> None:
    assert check_call("recall", {"query": query}, ENABLED) is not None


def test_an_unknown_tool_is_refused_with_the_names_there_are() -> None:
    refusal = check_call("web_search", {"query": "x"}, ("recall",))

    assert refusal == "There is no tool 'web_search' here; there are recall, done."


def test_a_depth_that_is_not_there_is_refused() -> None:
    assert check_call("expand", {"memory_ids": ["f1"], "depth": "planet"}, ENABLED) is not None
