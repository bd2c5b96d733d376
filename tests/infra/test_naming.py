"""Names and times as CloudFormation spells them."""

import pytest

from infra.cloud.errors import ScheduleError
from infra.cloud.naming import logical, rate


@pytest.mark.parametrize(
    ("name", "spelled"), [("retain", "Retain"), ("reflect_step", "ReflectStep"), ("ingest-dead", "IngestDead")]
)
def test_a_construct_is_named_like_its_entry(name: str, spelled: str) -> None:
    assert logical(name) == spelled


@pytest.mark.parametrize(("seconds", "expression"), [(60, "rate(1 minute)"), (300, "rate(5 minutes)")])
def test_a_tick_is_spelled_in_minutes(seconds: int, expression: str) -> None:
    assert rate(seconds) == expression


@pytest.mark.parametrize("seconds", [0, 30, 90])
def test_a_tick_that_is_no_whole_minute_is_refused(seconds: int) -> None:
    with pytest.raises(ScheduleError, match=str(seconds)):
        rate(seconds)
