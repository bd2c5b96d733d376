"""How often a call tries what the database ended for another's sake."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_aws.errors import Conflict, VectorsReplaced, WorkRaced, WorkSuperseded
from hindsight_aws.operations.again import MOST_TRIES, again


@pytest.mark.parametrize("races", range(MOST_TRIES))
def test_what_gets_through_in_the_end_is_given(races: int) -> None:
    ended = [WorkRaced("another came in between")] * races

    def attempt() -> str:
        if ended:
            raise ended.pop()
        return "done"

    assert again(attempt) == "done"


def test_who_is_raced_each_time_is_told_so() -> None:
    tries: list[int] = []

    def attempt() -> None:
        tries.append(1)
        raise WorkRaced("another came in between")

    with pytest.raises(WorkRaced):
        again(attempt)
    assert len(tries) == MOST_TRIES


def test_who_has_a_refusal_says_it_in_place_of_the_last_race() -> None:
    def attempt() -> None:
        raise WorkSuperseded("the fact is newer")

    with pytest.raises(Conflict, match="nothing was changed"):
        again(attempt, passing=(WorkSuperseded, WorkRaced), refusal="nothing was changed")


def test_vectors_that_are_being_replaced_are_waited_for_by_the_caller() -> None:
    tries: list[int] = []

    def attempt() -> None:
        tries.append(1)
        raise VectorsReplaced("they are being replaced", until=datetime(2026, 1, 1, tzinfo=UTC))

    with pytest.raises(VectorsReplaced):
        again(attempt, refusal="nothing was changed")
    assert len(tries) == 1
