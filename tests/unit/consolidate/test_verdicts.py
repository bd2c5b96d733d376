"""What becomes of the facts of a batch, and what a run says it did."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from hindsight_aws.consolidate.verdicts import counts_of, settle
from hindsight_aws.model.plan import Evidence, Plan, Refusal, ShownFact
from hindsight_aws.ports.consolidation import PendingFact
from hindsight_aws.ports.observations import ObservationWrite


def _row(number: int, *, was_refused: bool = False) -> PendingFact:
    return PendingFact(UUID(int=number), ShownFact(UUID(int=100 + number), "It is so.", 1), 0, 0, 0, 0, was_refused)


def _write(*facts: int, text: str | None = "T", is_new: bool = False, origin: str = "whole") -> ObservationWrite:
    evidence = tuple(Evidence(UUID(int=100 + fact), "q", "model" if origin == "model" else "whole") for fact in facts)
    return ObservationWrite(uuid4(), text, None, {}, evidence, is_new)


def test_each_fact_is_settled_by_what_it_supports() -> None:
    batch = [_row(number) for number in range(6)]
    writes = [_write(0, is_new=True), _write(1, 3), _write(2, text=None), _write(3, is_new=True)]

    settled = settle(batch, Plan(capped=frozenset({UUID(int=104)}), skipped=frozenset({UUID(int=105)})), writes)

    outcomes = [verdict.outcome for verdict in settled.verdicts]
    assert outcomes == ["created", "updated", "evidence", "multiple", "capped", "not_durable"]
    assert (settled.overlooked, settled.asks_alone) == ((), False)


def test_what_is_left_out_in_company_is_overlooked_and_alone_it_is_not_durable() -> None:
    assert settle([_row(0), _row(1)], Plan(), []).overlooked == (UUID(int=0), UUID(int=1))
    assert [verdict.outcome for verdict in settle([_row(0)], Plan(), []).verdicts] == ["not_durable"]


def test_what_is_left_out_alone_of_a_full_scope_is_kept_out_by_its_cap() -> None:
    full = Plan(is_full=True)

    assert [verdict.outcome for verdict in settle([_row(0)], full, []).verdicts] == ["capped"]
    assert len(settle([_row(0), _row(1)], full, []).overlooked) == 2


@pytest.mark.parametrize(("was_refused", "asks"), [(False, True), (True, False)])
def test_a_refused_delete_is_asked_about_once_alone(was_refused: bool, asks: bool) -> None:
    settled = settle([_row(0, was_refused=was_refused)], Plan(refused_delete=True), [])

    assert settled.asks_alone is asks
    assert bool(settled.overlooked) is asks


def test_a_run_counts_facts_observations_and_quotes() -> None:
    batch = [_row(number) for number in range(3)]
    writes = [_write(0, 1, is_new=True, origin="model"), _write(0)]
    plan = Plan(refusals=(Refusal("update", "it was not shown"),))

    counts = counts_of(settle(batch, plan, writes), plan, writes)

    assert counts == {
        "multiple": 1, "created": 1, "overlooked": 1, "refused": 1, "observations_created": 1,
        "observations_updated": 1, "quotes_model": 2, "quotes_whole": 1,
    }  # fmt: skip
