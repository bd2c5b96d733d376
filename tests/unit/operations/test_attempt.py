"""How long work waits for its next attempt."""

from __future__ import annotations

from hindsight_aws.operations.attempt import FIRST_WAIT_S, LONGEST_WAIT_S, backoff


def test_waits_double_from_the_first_and_are_bounded() -> None:
    waits = [backoff(times) for times in range(1, 10)]

    assert waits == [5, 10, 20, 40, 80, 160, 320, 640, 900]
    assert (waits[0], backoff(10_000)) == (FIRST_WAIT_S, LONGEST_WAIT_S)
