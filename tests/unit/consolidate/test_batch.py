"""In how large a company a fact is asked about after what became of it before."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.consolidate.batch import ALONE, attempts_after, choose, looks_after
from hindsight_aws.model.plan import ShownFact
from hindsight_aws.ports.consolidation import PendingFact


def _row(looks: int = 0, attempts: int = 0) -> PendingFact:
    return PendingFact(uuid4(), ShownFact(UUID(int=1), "It is so.", 1), looks, attempts, 0, 0, False)


def test_new_facts_fill_a_batch_oldest_first() -> None:
    rows = [_row() for _ in range(12)]

    assert choose(rows, 8) == rows[:8]


@pytest.mark.parametrize(
    ("looks", "attempts", "size"),
    [(0, 0, 8), (1, 0, 4), (ALONE, 0, 1), (0, 1, 4), (0, 2, 2), (0, 3, 1), (0, 9, 1), (1, 2, 2)],
)
def test_what_went_wrong_makes_the_company_smaller(looks: int, attempts: int, size: int) -> None:
    rows = [_row(looks, attempts) for _ in range(12)]

    assert len(choose(rows, 8)) == size


def test_a_fact_that_may_have_no_company_waits_for_its_turn() -> None:
    first, alone, third = _row(), _row(ALONE), _row()

    assert choose([first, alone, third], 8) == [first, third]
    assert choose([alone, first], 8) == [alone]


def test_c051_what_was_overlooked_is_asked_about_together_once_and_then_alone() -> None:
    assert looks_after(8, 3, 8) == 1
    assert looks_after(8, 1, 8) == ALONE
    assert looks_after(3, 3, 8) == ALONE
    assert looks_after(8, 8, 8) == 1


@given(st.integers(1, 16), st.integers(0, 6), st.integers(1, 16))
def test_a_batch_that_broke_is_never_asked_about_in_the_same_size_again(batch: int, attempts: int, size: int) -> None:
    batch = min(batch, size)
    after = attempts_after(batch, attempts, size)

    again = choose([_row(attempts=after) for _ in range(batch)], size)

    assert after > attempts
    assert len(again) < batch or batch == 1
