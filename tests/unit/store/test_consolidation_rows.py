"""Rankings of what is related to a fact, made one."""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.store.consolidation_rows import in_turn

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def test_rankings_take_turns_and_name_each_once() -> None:
    """[Q044]."""
    assert in_turn([A, B, C], [C, A], [D]) == [A, C, D, B]


def test_what_tops_any_ranking_is_among_the_first() -> None:
    assert in_turn([A, B, C], [D]) == [A, D, B, C]
    assert in_turn([], [B, A]) == [B, A]
    assert in_turn() == []
