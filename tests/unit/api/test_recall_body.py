"""The body of a recall call and the question it becomes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from hindsight_aws.api.schemas.recall import RecallBody
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.recall import TimeFilter

NOON = datetime(2026, 3, 11, 12, tzinfo=UTC)


def _body(**fields: Any) -> RecallBody:
    return RecallBody.model_validate({"query": "tea", **fields})


def test_a_window_without_a_zone_is_in_utc_and_may_be_a_moment() -> None:
    """[Q010]."""
    query = _body(temporal_window={"start": "2026-03-11T12:00:00", "end": "2026-03-11T13:00:00+01:00"}).as_query()

    assert query.temporal_window == (NOON, NOON)


@pytest.mark.parametrize("field", ["temporal_window", "only_between"])
@pytest.mark.parametrize(
    "period",
    [
        pytest.param({"start": "2026-03-11T12:00:00Z", "end": "2026-03-11T11:59:59Z"}, id="[Q010] backwards"),
        pytest.param({"start": "2026-03-11T12:00:00Z"}, id="without an end"),
        pytest.param({"start": "soon", "end": "later"}, id="no dates"),
        pytest.param({"start": "0001-01-01T00:00:00+14:00", "end": "2026-03-11T12:00:00Z"}, id="before the calendar"),
    ],
)
def test_a_period_that_is_none_is_refused_by_name(field: str, period: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        _body(**{field: period})

    assert {error["loc"][0] for error in refused.value.errors()} == {field}


def test_bounds_of_time_become_a_filter() -> None:
    query = _body(
        created_after="2026-03-11T12:00:00",
        created_before="2026-03-11T13:00:00Z",
        only_between={"start": "2026-03-11T12:00:00Z", "end": "2026-03-11T12:00:00Z"},
    ).as_query()

    assert query.times == TimeFilter(NOON, NOON.replace(hour=13), (NOON, NOON))
    assert not _body().as_query().times


def test_evidence_comes_when_it_is_included() -> None:
    assert _body(include={"evidence": {}}).as_query().with_quotes
    assert not _body().as_query().with_quotes
    assert not _body(include={"evidence": None}).as_query().with_quotes


def test_a_time_that_is_none_is_refused() -> None:
    """[Q008]."""
    with pytest.raises(InvalidRequest, match="query_timestamp"):
        _body(query_timestamp="yesterday").as_query()


def test_tags_and_groups_exclude_each_other_even_empty() -> None:
    """[Q009]."""
    with pytest.raises(ValidationError, match="mutually exclusive"):
        _body(tags=[], tag_groups=[])


def test_an_unknown_way_to_match_tags_is_refused() -> None:
    """[Q070]."""
    with pytest.raises(ValidationError, match="tags_match"):
        _body(tags=["a"], tags_match="some")


@pytest.mark.parametrize("empty", [{"or": []}, {"and": []}])
def test_an_empty_group_is_refused(empty: dict[str, list[object]]) -> None:
    """[Q071]."""
    with pytest.raises(ValidationError, match="tag_groups"):
        _body(tag_groups=[empty])


def test_a_fuzzy_leaf_is_taken_and_another_way_to_resolve_refused() -> None:
    assert _body(tag_groups=[{"not": {"tags": ["a"], "resolve": "fuzzy"}}]).as_query().tags.is_fuzzy

    with pytest.raises(ValidationError, match="must be `exact` or `fuzzy`"):
        _body(tag_groups=[{"tags": ["a"], "resolve": "some"}])
