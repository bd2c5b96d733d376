"""A bank's traits, as its answers are told of them."""

from __future__ import annotations

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.reflect.asking.disposition import MEANINGS, described


def test_traits_in_the_middle_are_numbers_alone() -> None:
    """[X051] All three at 3: numbers only."""
    plain = {"skepticism": 3, "literalism": 3, "empathy": 3}

    assert described(BankConfig()) == plain
    assert described(BankConfig(disposition_skepticism=3, disposition_literalism=3, disposition_empathy=3)) == plain


def test_a_trait_off_the_middle_brings_a_sentence_for_each() -> None:
    """[X051] One of them at 5: sentences."""
    told = described(BankConfig(disposition_skepticism=5))

    assert (told["skepticism"], told["literalism"], told["empathy"]) == (5, 3, 3)
    assert told["means"] == [MEANINGS["skepticism"][4], MEANINGS["literalism"][2], MEANINGS["empathy"][2]]


def test_every_level_says_something_of_its_own() -> None:
    sentences = [sentence for levels in MEANINGS.values() for sentence in levels]

    assert len(set(sentences)) == 15
