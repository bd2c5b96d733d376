"""Names that nobody knows are told of where they begin to matter."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.retain.warnings import warnings_for
from hindsight_aws.settings import Settings


def _warned(*strategies: str | None, **overrides: object) -> tuple[str, ...]:
    parts = tuple(replace(Part(at, "x", None, True), strategy=name) for at, name in enumerate(strategies))
    bank = Bank(BankId(UUID(int=1)), "b", None, overrides, None)
    return warnings_for(Settings(), bank, [DocumentTask(None, "replace", (part,)) for part in parts])


def test_each_strategy_that_the_bank_has_not_is_named_once() -> None:
    assert _warned("mine", "x", None, "x", retain_strategies={"mine": {}}) == (
        "items[1].strategy: the bank has no retain strategy 'x'; its own settings hold",
    )


def test_a_default_strategy_that_the_bank_has_not_is_told_of_where_it_would_hold() -> None:
    sentence = "retain_default_strategy: the bank has no retain strategy 'x'; its own settings hold"

    assert _warned(None, retain_default_strategy="x") == (sentence,)
    assert _warned("mine", retain_default_strategy="x", retain_strategies={"mine": {}}) == ()


def test_a_way_of_extraction_that_is_none_is_told_of_once_wherever_it_stands() -> None:
    sentence = "retain_extraction_mode: is none of concise, verbose, custom, verbatim, chunks; it works as concise"

    assert _warned(None, None, retain_extraction_mode="foo") == (sentence,)
    assert _warned("mine", None, retain_strategies={"mine": {"retain_extraction_mode": "foo"}}) == (sentence,)
    assert _warned(None, retain_extraction_mode=" Chunks") == ()


def test_warnings_have_an_end() -> None:
    assert len(_warned(*(f"s{number}" for number in range(1_000)))) == 20
