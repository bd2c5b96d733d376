"""Asking again after a reply that lost too much: what could be read of the first is never thrown away."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import (
    HindsightError,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
)
from hindsight_aws.ports.model_gateway import JsonObject, ModelUsage
from hindsight_aws.prompts import prompt
from hindsight_aws.retain.extraction.extract import Extractor, Passage, extract
from tests.support.models import ScriptedModel, fact

_EXTRACTOR = Extractor("m", prompt("extract_facts"), None, 512, "t", "b")
_PASSAGE = Passage("It rained, and it snowed.", 0, 1, None, None, {})
_HALF_BAD: JsonObject = {"facts": [fact("It rained."), {"what": ["no", "text"]}]}
_NOTHING: JsonObject = {"facts": []}


def extracted(*replies: JsonObject | HindsightError) -> tuple[list[str], int]:
    """The facts that these replies in turn give, and how many were asked for."""
    left = list(replies)
    model = ScriptedModel(lambda call: left.pop(0))
    found = extract(model, _EXTRACTOR, _PASSAGE, unheeded)
    return [each.text for each in found.facts], len(model.calls)


def unheeded(_usage: ModelUsage) -> None:
    """Nobody counts here."""


def test_a_better_second_reply_stands() -> None:
    better: JsonObject = {"facts": [fact("It rained."), fact("It snowed.")]}

    assert extracted(_HALF_BAD, better) == (["It rained.", "It snowed."], 2)


@pytest.mark.parametrize(
    "second",
    [_NOTHING, ModelReplyMalformed("prose"), ModelReplyTruncated("cut"), ModelRefused("withheld")],
    ids=["nothing", "malformed", "truncated", "refused"],
)
def test_a_worse_second_reply_leaves_the_first(second: JsonObject | HindsightError) -> None:
    assert extracted(_HALF_BAD, second) == (["It rained."], 2)


def test_a_second_reply_that_may_come_later_is_waited_for() -> None:
    with pytest.raises(ModelThrottled):
        extracted(_HALF_BAD, ModelThrottled("slow down"))


def test_nothing_readable_at_all_is_an_error() -> None:
    with pytest.raises(ModelReplyMalformed):
        extracted(ModelReplyMalformed("prose"), ModelReplyMalformed("prose"))
