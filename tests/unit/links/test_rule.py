"""Which rule a bank of some size has."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hindsight_aws.links.rule import link_rule
from hindsight_aws.ports.links import LinkRule
from hindsight_aws.settings import Settings


@pytest.mark.parametrize(("facts", "exact"), [(0, True), (2_000, True), (2_001, False)])
def test_a_small_bank_is_compared_whole(facts: int, exact: bool) -> None:
    assert link_rule(Settings(), facts) == LinkRule(0.7, 20, exact, timedelta(hours=24))


def test_the_least_cosine_is_a_setting() -> None:
    assert link_rule(Settings(hindsight_api_semantic_link_min_similarity=0.8), 0).min_similarity == 0.8
