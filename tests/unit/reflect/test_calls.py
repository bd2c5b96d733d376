"""What models write as arguments is understood where it can be, and refused with a sentence where it cannot."""

from __future__ import annotations

import pytest

from hindsight_aws.ports.model_gateway import JsonValue
from hindsight_aws.reflect.calls import WrongArgument, check_call, texts, tokens

ENABLED = ("search_observations", "recall", "expand")


@pytest.mark.parametrize(
    ("said", "understood"),
    [(None, 2048), ("", 2048), ("None", 2048), ("null", 2048), (0, 2048), (5, 1000), ("3000", 3000), (999_999, 16_000),
     (1500.7, 1500)],
)  # fmt: skip
def test_a_token_budget_is_read_from_what_models_write(said: JsonValue, understood: int) -> None:
    assert tokens({"max_tokens": said}, "max_tokens", 2048) == understood


@pytest.mark.parametrize("said", ["abc", True, [1], {"n": 1}, float("inf")])
def test_a_budget_that_is_no_number_is_refused(said: JsonValue) -> None:
    with pytest.raises(WrongArgument, match="whole number"):
        tokens({"max_tokens": said}, "max_tokens", 2048)


def test_a_bare_id_is_a_list_of_one() -> None:
    assert texts({"memory_ids": " f1 "}, "memory_ids") == ("f1",)


@pytest.mark.parametrize("query", [None, "", "  ", "???", 7, "__"])
def test_a_search_for_nothing_is_refused(query: JsonValue) -> None:
    assert check_call("recall", {"query": query}, ENABLED) is not None


def test_an_unknown_tool_is_refused_with_the_names_there_are() -> None:
    refusal = check_call("web_search", {"query": "x"}, ("recall",))

    assert refusal == "There is no tool 'web_search' here; there are recall, done."


def test_a_depth_that_is_not_there_is_refused() -> None:
    assert check_call("expand", {"memory_ids": ["f1"], "depth": "planet"}, ENABLED) is not None
