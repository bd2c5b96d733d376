"""Orders and receipts as the text of messages between `deliver` and `send`.

An order holds the one request that it is for, signed: `send` has neither the database nor the secret.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Order, Receipt
from hindsight_aws.text.sanitise import clean

RECEIPT = "receipt"
"""The kind that a receipt says it is of, on a queue that also holds wake-ups."""


def order_to_text(order: Order) -> str:
    """The order as a message."""
    return json.dumps(
        {
            **_attempt_to_json(order.attempt),
            "url": order.url,
            "http": asdict(order.http),
            "headers": dict(order.headers),
            "body": order.body,
            "not_after": order.not_after,
        }
    )


def order_of(text: str) -> Order:
    """The order that a message holds.  Raises: ValueError for what is none."""
    try:
        said = json.loads(text)
        return Order(
            _attempt_of(said),
            str(said["url"]),
            HttpConfig(**said["http"]),
            dict(said["headers"]),
            str(said["body"]),
            float(said["not_after"]),
        )
    except (KeyError, TypeError, AttributeError):
        raise ValueError("the message holds no order") from None


def receipt_to_text(attempt: Attempt, receipt: Receipt) -> str:
    """The receipt as a message."""
    return json.dumps({"kind": RECEIPT, **_attempt_to_json(attempt), "status": receipt.status, "error": receipt.error})


def receipt_of(text: str) -> tuple[Attempt, Receipt]:
    """The receipt that a message holds, and for which attempt.  Raises: ValueError for what is none.

    An error may quote what a receiver said, who may have said what no database holds.
    """
    try:
        said = json.loads(text)
        status = said["status"]
        error = said["error"]
        return _attempt_of(said), Receipt(
            None if status is None else int(status), None if error is None else clean(str(error))
        )
    except (KeyError, TypeError):
        raise ValueError("the message holds no receipt") from None


def _attempt_to_json(attempt: Attempt) -> dict[str, object]:
    return {
        "tenant_id": str(attempt.tenant_id),
        "bank_id": str(attempt.bank_id),
        "delivery_id": str(attempt.delivery_id),
        "fence": attempt.fence,
    }


def _attempt_of(said: dict[str, object]) -> Attempt:
    return Attempt(
        TenantId(UUID(str(said["tenant_id"]))),
        BankId(UUID(str(said["bank_id"]))),
        UUID(str(said["delivery_id"])),
        int(str(said["fence"])),
    )
