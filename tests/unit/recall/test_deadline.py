"""The time that a recall has, how it is shared out, and calls of models that nobody waits for any more."""

from __future__ import annotations

import threading

import pytest

from hindsight_aws.recall.deadline import Deadline, OutOfTime


def test_a_step_gets_half_of_what_is_left_after_what_reading_needs() -> None:
    now = [0.0]
    deadline = Deadline(1_000, lambda: now[0])

    first = deadline.to_look_ms
    now[0] = 0.5
    later = deadline.to_look_ms
    now[0] = 0.9
    at_last = deadline.to_look_ms, deadline.to_read_ms
    now[0] = 2.0
    over = deadline.left_ms, deadline.to_look_ms, deadline.to_read_ms

    assert (first, later) == (400, 150)
    assert at_last == (0, 50)
    assert over == (0, 0, 20)


def test_what_is_cut_is_named_once() -> None:
    deadline = Deadline(1_000)

    deadline.give_up("semantic", "graph")
    deadline.give_up("graph")

    assert deadline.cut == ["semantic", "graph"]


def test_a_call_in_time_gives_what_it_gives_and_raises_what_it_raises() -> None:
    deadline = Deadline(20_000)

    def fails() -> None:
        raise TimeoutError("of its own")

    assert deadline.in_time(lambda: 3) == 3
    with pytest.raises(TimeoutError, match="of its own"):
        deadline.in_time(fails)


def test_calls_that_are_late_are_left_behind_and_no_more_of_them_than_eight_are_begun() -> None:
    let, begun = threading.Event(), []

    def late() -> None:
        begun.append(1)
        let.wait(60)

    outcomes = []
    try:
        for _ in range(9):
            with pytest.raises(OutOfTime) as cut:
                Deadline(30).in_time(late)
            outcomes.append(cut.value.began)
    finally:
        let.set()

    assert outcomes == [True] * 8 + [False]
    assert len(begun) == 8
    assert Deadline(20_000).in_time(lambda: "free again") == "free again"


def test_without_time_nothing_is_begun() -> None:
    begun: list[int] = []

    with pytest.raises(OutOfTime) as cut:
        Deadline(0).in_time(lambda: begun.append(1))

    assert not cut.value.began
    assert begun == []
