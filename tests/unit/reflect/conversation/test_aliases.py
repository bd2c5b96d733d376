"""Aliases stand for ids where ids are meant, and nowhere else."""

from __future__ import annotations

from uuid import uuid4

from hindsight_aws.reflect.conversation.aliases import (
    UNVERIFIED,
    in_prose,
    resolved,
    uuids,
    verified,
    words_like_aliases,
)

A, B = str(uuid4()), str(uuid4())
IDS = {"f1": A, "o1": B, "p1": "pets"}


def test_arguments_that_are_aliases_become_ids() -> None:
    said = resolved({"memory_ids": ["f1", " o1 ", "f9"], "mental_model_ids": "p1", "depth": "chunk"}, IDS)

    assert said == {"memory_ids": [A, B, "f9"], "mental_model_ids": "pets", "depth": "chunk"}


def test_what_is_looked_for_is_never_rewritten() -> None:
    """Case [X033]: not even where it is an alias and nothing else."""
    said = resolved({"query": "f1", "reason": "o1", "memory_ids": ["see f1"]}, IDS)

    assert said == {"query": "f1", "reason": "o1", "memory_ids": ["see f1"]}


def test_an_alias_in_the_answer_becomes_its_id_and_an_unknown_one_stays() -> None:
    """Case [X031]."""
    told = in_prose("By f1 and [o1; f1], (p1), not f99 nor xf1.", IDS, frozenset())

    assert told == f"By {A} and [{B}; {A}], (pets), not f99 nor xf1."


def test_a_word_that_was_read_stays_a_word_outside_brackets() -> None:
    words = words_like_aliases(["The F1 race is on Sunday."])

    assert in_prose("The f1 race [f1].", IDS, words) == f"The f1 race [{A}]."


def test_ids_that_stand_in_nothing_that_was_read_are_marked() -> None:
    """Case [X032]."""
    known = uuids([f"order {A.upper()}"])

    assert verified(f"{A} and {B}", known) == f"{A} and {UNVERIFIED}"
