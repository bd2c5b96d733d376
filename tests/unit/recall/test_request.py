"""What a recall may be asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_aws.errors import InvalidField
from hindsight_aws.recall import RecallQuery, TimeFilter, fact_types_of


@pytest.mark.parametrize("query", ["?!…", "", "   ", "😀"])
def test_a_query_without_a_word_character_is_refused_by_name(query: str) -> None:
    with pytest.raises(InvalidField, match="word character") as refused:
        RecallQuery(query)

    assert refused.value.field == "query"


@pytest.mark.parametrize("query", ["東京", "a", "7", "was?"])
def test_a_query_with_a_word_character_is_taken(query: str) -> None:
    assert RecallQuery(query).query == query


def test_what_no_model_takes_is_removed_from_the_query() -> None:
    assert RecallQuery("tea\ud800 and\0milk").sound_query == "tea and milk"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, ("world", "experience", "observation")),
        ([], ("world", "experience", "observation")),
        (["opinion"], ()),
        (["world", "opinion"], ("world",)),
        (["observation", "world", "observation"], ("observation", "world")),
    ],
)
def test_types_are_chosen_by_name(names: list[str] | None, expected: tuple[str, ...]) -> None:
    assert fact_types_of(names) == expected


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(InvalidField, match="fact") as refused:
        fact_types_of(["world", "fact"])

    assert refused.value.field == "types"


def test_a_period_may_not_end_before_it_starts_and_may_be_a_moment() -> None:
    """[Q010]."""
    now = datetime(2026, 3, 11, tzinfo=UTC)
    backwards = (now, now - timedelta(seconds=1))

    with pytest.raises(InvalidField, match="temporal_window must not end"):
        RecallQuery("tea", temporal_window=backwards)
    with pytest.raises(InvalidField, match="only_between must not end"):
        RecallQuery("tea", times=TimeFilter(only_between=backwards))
    assert RecallQuery("tea", temporal_window=(now, now)).temporal_window == (now, now)
