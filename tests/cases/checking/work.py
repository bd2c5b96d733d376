"""What became of operations, queues, connections and the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from tests.cases.checking.outcome import Check, Outcome, includes, named


@named("operation_status")
def _operation_status(outcome: Outcome, wanted: str) -> None:
    assert _last_status(outcome) == wanted, f"it is {_last_status(outcome)}"


@named("operation_status_not")
def _operation_status_not(outcome: Outcome, wanted: str) -> None:
    assert _last_status(outcome) != wanted, f"it is {wanted}"


def _last_status(outcome: Outcome) -> str:
    assert outcome.play.operations, "no operation was started"
    return _statuses(outcome, outcome.play.operations[-1:])[0]


def _statuses(outcome: Outcome, operations: Iterable[tuple[str, str]]) -> list[str]:
    return [outcome.world.get(bank, f"/operations/{identity}")["status"] for bank, identity in operations]


@named("operations")
def _operations(outcome: Outcome, wanted: int) -> None:
    assert len(set(outcome.play.operations)) == wanted, f"they are {outcome.play.operations}"


def _ended_as(status: str) -> Check:
    def check_ends(outcome: Outcome, wanted: int) -> None:
        statuses = _statuses(outcome, dict.fromkeys(outcome.play.operations))
        assert statuses.count(status) == wanted, f"they are {statuses}"

    return check_ends


named("completed")(_ended_as("completed"))
named("failed")(_ended_as("failed"))


def after_step(place: int) -> Check:
    """How many facts were consolidated, pending and failed after the consolidate step at this place."""

    def check_after(outcome: Outcome, wanted: Mapping[str, int]) -> None:
        includes(outcome.play.consolidated_after[place], wanted)

    return check_after


@named("batchItemFailures")
def _batch_failures(outcome: Outcome, wanted: Sequence[Sequence[str]]) -> None:
    assert outcome.play.batch_failures == [list(names) for names in wanted], f"they are {outcome.play.batch_failures}"
    operations = [
        outcome.world.sql("SELECT status FROM operations WHERE parent_id = %s", UUID(identity))
        for _, identity in outcome.play.operations
    ]
    left = {name for names in wanted[-1:] for name in names}
    open_still = [row["status"] for rows in operations for row in rows if row["status"] != "completed"]
    assert len(open_still) == len(left), f"not done are {open_still}"


@named("connects_max")
def _connects_max(outcome: Outcome, wanted: int) -> None:
    assert outcome.play.connects <= wanted, f"there were {outcome.play.connects}"


@named("max_message_bytes")
def _max_message_bytes(outcome: Outcome, wanted: int) -> None:
    largest = max(outcome.world.stack.queues.counts(name).largest for name in ("ingest", "consolidate"))
    assert 0 < largest <= wanted, f"the largest message had {largest} bytes"


@named("tokens_recorded_gt")
def _tokens_recorded(outcome: Outcome, wanted: int) -> None:
    (row,) = outcome.world.sql(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0)::bigint AS tokens FROM usage_ledger "
        "WHERE bank_id = ANY(%s) AND status <> 'ok'",
        outcome.world.bank_ids(outcome.case.banks),
    )
    assert row["tokens"] > wanted, f"failed calls recorded {row['tokens']} tokens"
