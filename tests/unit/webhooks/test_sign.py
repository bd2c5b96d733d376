"""Signatures are what a receiver computes by itself, and the request is made of what the hook says."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Receipt
from hindsight_aws.ports.deliveries import Claimed
from hindsight_aws.webhooks.compose import order_for
from hindsight_aws.webhooks.deliver import DELAYS_S, MOST_ATTEMPTS, verdict
from hindsight_aws.webhooks.messages import order_of, order_to_text, receipt_of, receipt_to_text
from hindsight_aws.webhooks.sign import signatures

ID = UUID(int=7)
WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _claimed(**changed: Any) -> Claimed:
    values: dict[str, Any] = {
        "delivery_id": ID, "fence": 3, "attempts": 1, "url": "https://example.com/h?a=1#f", "is_enabled": True,
        "event_id": ID, "event": "retain.completed", "bank": "bänk", "operation_id": ID, "status": "completed",
        "data": {"document_id": "d", "error_message": None}, "created_at": WHEN, "lease_until": 1_000.0,
        "http": HttpConfig(), "secret": "s" * 8,
    }  # fmt: skip
    return Claimed(**(values | changed))


def test_a_receiver_can_verify_both_signatures() -> None:
    body = '{"event":"retain.completed"}'

    headers = signatures("key", body, 1_700_000_000)

    plain = hmac.new(b"key", body.encode(), hashlib.sha256).hexdigest()
    timed = hmac.new(b"key", f"1700000000.{body}".encode(), hashlib.sha256).hexdigest()
    assert headers == {
        "X-Hindsight-Signature": f"sha256={plain}",
        "X-Hub-Signature-256": f"sha256={plain}",
        "X-Hindsight-Signature-V2": f"t=1700000000,v1={timed}",
    }


def test_the_body_holds_ids_and_leaves_out_what_is_null() -> None:
    order = order_for(TenantId(ID), BankId(ID), _claimed(), 5.0)

    assert json.loads(order.body) == {
        "event_id": str(ID),
        "event": "retain.completed",
        "bank_id": "bänk",
        "operation_id": str(ID),
        "status": "completed",
        "timestamp": "2026-11-30T12:00:00+00:00",
        "data": {"document_id": "d"},
    }
    assert order.body.isascii()
    assert order.headers["X-Hindsight-Event-Id"] == order.headers["X-Hindsight-Delivery-Id"] == str(ID)
    assert order.not_after == 1_000.0 - 30 - 15


def test_parameters_are_added_and_headers_are_sent_but_for_ours() -> None:
    http = HttpConfig(headers={"Authorization": "Bearer x"}, params={"k": "a b&c"})

    order = order_for(TenantId(ID), BankId(ID), _claimed(http=http), 5.0)

    assert parse_qsl(urlsplit(order.url).query) == [("a", "1"), ("k", "a b&c")]
    assert order.headers["Authorization"] == "Bearer x"


def test_a_hook_without_a_secret_signs_nothing() -> None:
    order = order_for(TenantId(ID), BankId(ID), _claimed(secret=None), 5.0)

    assert not any("Signature" in name for name in order.headers)


def test_a_secret_is_in_no_rendering_of_a_delivery_and_in_no_message() -> None:
    claimed = _claimed(secret="hush" * 3)

    assert "hush" not in repr(claimed)
    assert "hush" not in order_to_text(order_for(TenantId(ID), BankId(ID), claimed, 5.0))


def test_messages_are_read_as_they_were_written() -> None:
    order = order_for(TenantId(ID), BankId(ID), _claimed(http=HttpConfig("GET", 5, {"A": "b"}, {"c": "d"})), 5.0)
    receipt = Receipt(None, "timed out")

    assert order_of(order_to_text(order)) == order
    assert receipt_of(receipt_to_text(order.attempt, receipt)) == (order.attempt, receipt)
    assert order.attempt == Attempt(TenantId(ID), BankId(ID), ID, 3)


def test_what_a_receiver_said_that_no_database_holds_is_left_out_of_its_error() -> None:
    attempt = Attempt(TenantId(ID), BankId(ID), ID, 3)

    _, receipt = receipt_of(receipt_to_text(attempt, Receipt(None, "BadStatusLine: \x00\xff\ud800 no http")))

    assert receipt.error == "BadStatusLine: \xff no http"


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"url": 1}', '"x"', '{"http": {"a": 1}}'])
def test_what_is_no_message_is_said_so(text: str) -> None:
    for read in (order_of, receipt_of):
        with pytest.raises(ValueError, match=r"holds no|Expecting"):
            read(text)


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_ends_a_delivery(status: int) -> None:
    assert verdict(1, Receipt(status)) == ("completed", 0)
    assert verdict(MOST_ATTEMPTS, Receipt(status)) == ("completed", 0)


def test_everything_else_waits_ever_longer_and_ends_after_the_sixth() -> None:
    assert DELAYS_S == (5, 300, 1_800, 7_200, 18_000)
    for receipt in (Receipt(500), Receipt(302), Receipt(404), Receipt(None, "timed out")):
        told = [verdict(attempt, receipt) for attempt in range(1, 7)]

        assert told == [*(("pending", delay) for delay in DELAYS_S), ("failed", 0)]


def test_a_receiver_that_is_gone_is_not_asked_again() -> None:
    assert verdict(1, Receipt(410)) == ("failed", 0)
