"""Screening counted: in an operation's result, the ledger and an event, by detector, never with what was found.

Called by retain and submit, within the transaction that writes the operation.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.screening import Screening
from hindsight_aws.model.webhook import MEMORY_DEFENSE_TRIGGERED, WebhookEvent
from hindsight_aws.ports.model_gateway import ModelUsage, TokenUsage
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.usage.ledger import ledger_entries

TASK: Final = "screening"


def as_result(screening: Screening) -> dict[str, object]:
    """What an operation's result says of it; nothing when nothing was found."""
    return {} if screening.is_silent else {"screening": screening.as_json()}


def events(screening: Screening, operation_id: OperationId) -> list[WebhookEvent]:
    """What hooks are told of it: finds by detector and action, and how many items were left out; at most one event."""
    if screening.is_silent:
        return []
    done: dict[str, dict[str, int]] = {"redact": {}, "block": {}}
    for (detector, action), times in sorted(screening.counts().items()):
        done[action][detector] = times
    data = {"redacted": done["redact"], "blocked": done["block"], "dropped_items": len(screening.dropped)}
    return [WebhookEvent(MEMORY_DEFENSE_TRIGGERED, operation_id, "completed", data)]


def ledger_lines(
    screening: Screening, subject: str, bank_id: BankId, operation_id: OperationId | None
) -> list[LedgerEntry]:
    """A line for each detector and action, its `calls` the number of finds: free, so that costs stay what they are."""
    usages = [
        ModelUsage(TASK, None, f"{detector}:{action}", "ok", TokenUsage(), Decimal(0), 0.0, calls=times)
        for (detector, action), times in sorted(screening.counts().items())
    ]
    return ledger_entries(usages, subject, bank_id, operation_id)
