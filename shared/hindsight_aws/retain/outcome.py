"""What became of an attempt at a retain operation, and of the operation itself, for whoever asked for it.

Read by the API's sync path and by the ingest job; pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast
from uuid import UUID

from hindsight_aws import errors
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import Operation
from hindsight_aws.model.watermark import watermark
from hindsight_aws.operations.attempt import AttemptState
from hindsight_aws.retain.intake.requests import ItemOutcome, RetainResult, RetainTotals

_KINDS: Final[Mapping[str, type[HindsightError]]] = {
    kind.__name__: kind
    for kind in (
        errors.Conflict,
        errors.DatabaseRefused,
        errors.InvalidRequest,
        errors.ModelDenied,
        errors.ModelError,
        errors.ModelInputTooLong,
        errors.ModelRefused,
        errors.ModelReplyMalformed,
        errors.ModelReplyTruncated,
        errors.ModelUnavailable,
        errors.TooLarge,
        errors.WorkCrashed,
    )
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to, and which tokens its calls took.

    `completed` and `failed` are on the row.  `deferred`: to be done later, for the reason in `error`, after `wait_s`.
    `busy`: somebody else holds the operation or its document, or it is not due.  `absent`: no such work, or none left.
    """

    state: AttemptState
    totals: RetainTotals = field(default_factory=RetainTotals)
    error: HindsightError | None = None
    wait_s: float = 0.0


def error_of(kind: str | None, message: str | None) -> HindsightError:
    """The error a failed operation ended with, made anew from its row."""
    return _KINDS.get(kind or "", errors.Conflict)(message or "the retain failed")


def totals_of(result: Mapping[str, object]) -> RetainTotals:
    """The tokens that an ended operation's result names; none where it names none."""
    usage = cast("Mapping[str, int]", result.get("usage") or {})
    return RetainTotals(usage.get("input_tokens", 0), usage.get("output_tokens", 0), usage.get("cached_tokens", 0))


def superseded_by_of(result: Mapping[str, object]) -> OperationId | None:
    """The later operation that an ended operation's result leaves its documents to; None where it did its work."""
    winner = result.get("superseded_by")
    return OperationId(UUID(winner)) if isinstance(winner, str) else None


def screening_of(result: Mapping[str, object]) -> Mapping[str, object] | None:
    """What an operation's result says of screening; None where nothing was found."""
    return cast("Mapping[str, object] | None", result.get("screening"))


def warnings_of(result: Mapping[str, object]) -> tuple[str, ...]:
    """What an operation's result warns of, a sentence each."""
    return tuple(cast("Sequence[str]", result.get("warnings") or ()))


def items_of(result: Mapping[str, object]) -> tuple[ItemOutcome, ...] | None:
    """What an ended operation's result says of each item, in the order of the request; None where it says nothing."""
    kept = result.get("items")
    if not isinstance(kept, list):
        return None
    entries = cast("Sequence[Mapping[str, object]]", kept)
    return tuple(
        ItemOutcome(
            index=cast("int", entry["index"]),
            document_id=cast("str", entry["document_id"]),
            memories_count=cast("int", entry["memories_count"]),
            memory_ids=None if entry["memory_ids"] is None else tuple(cast("list[str]", entry["memory_ids"])),
        )
        for entry in entries
    )


def going_on(bank: str, operation: Operation) -> RetainResult:
    """The answer to a retain whose work goes on behind its operation."""
    return RetainResult(
        bank,
        operation.items_count,
        True,
        operation.operation_id,
        watermark=watermark(operation.created_at, [operation.operation_id]).encode(),
        screening=screening_of(operation.result),
        warnings=warnings_of(operation.result),
    )
