"""Deliveries as a receiver meets them, over real HTTP on loopback; and none where none may go."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest

from hindsight_aws.egress import post as egress
from hindsight_aws.model.address import Address
from hindsight_aws.settings import Settings, WrongSetting, load_settings
from tests.integration.webhooks.conftest import SECRET, Post
from tests.support.receiver import Receiver

_PENDING = "WHERE status = 'pending'"


def _mac(text: str) -> str:
    return hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()


def test_a_delivery_is_signed_and_names_its_event(post: Post, receiver: Receiver) -> None:
    post.hook(receiver.url)
    post.tell()

    post.fan_out()
    post.send_all()

    (request,) = receiver.received
    (row,) = post.rows()
    assert row["status"] == "completed"
    assert (row["attempts"], row["last_status"], row["last_error"]) == (1, 204, None)
    assert request.headers["X-Hindsight-Signature"] == f"sha256={_mac(request.body)}"
    assert request.headers["X-Hub-Signature-256"] == f"sha256={_mac(request.body)}"
    at, proof = request.headers["X-Hindsight-Signature-V2"].split(",")
    assert proof == f"v1={_mac(f'{at[2:]}.{request.body}')}"
    assert abs(int(at[2:]) - time.time()) < 60
    told = json.loads(request.body)
    assert told["event_id"] == request.headers["X-Hindsight-Event-Id"] == str(row["event_id"])
    assert request.headers["X-Hindsight-Delivery-Id"] == str(row["delivery_id"])
    assert (told["event"], told["bank_id"], told["data"]) == ("retain.completed", "bank", {"n": 1})


def test_a_receiver_that_fails_is_tried_again_with_the_same_event_until_it_takes_it(
    post: Post, receiver: Receiver
) -> None:
    receiver.statuses = [500, 503, 200]
    post.hook(receiver.url)
    post.tell()

    post.fan_out()
    post.send_all()
    assert [(row["status"], row["last_error"]) for row in post.rows()] == [("pending", "HTTP 500")]
    assert [delay for *_, delay in post.wakeups.deliveries] == [5]
    post.try_due()
    post.try_due()
    post.try_due()

    assert len(receiver.received) == 3
    assert len({request.body for request in receiver.received}) == 1
    assert len({request.headers["X-Hindsight-Delivery-Id"] for request in receiver.received}) == 1
    assert [(row["status"], row["attempts"], row["last_error"]) for row in post.rows()] == [("completed", 3, None)]


def test_after_six_attempts_it_is_over(post: Post, receiver: Receiver) -> None:
    receiver.statuses = [500]
    post.hook(receiver.url)
    post.tell()
    waits: list[int] = []

    post.fan_out()
    post.send_all()
    for _ in range(7):
        waits += [round((row["due_at"] - row["updated_at"]).total_seconds()) for row in post.rows(_PENDING)]
        post.try_due()

    assert waits == [5, 300, 1_800, 7_200, 18_000]
    assert [delay for *_, delay in post.wakeups.deliveries] == [5, 300]
    assert len(receiver.received) == 6
    assert [(row["status"], row["attempts"], row["last_status"]) for row in post.rows()] == [("failed", 6, 500)]


@pytest.mark.parametrize(("status", "requests", "end"), [(410, 1, "failed"), (302, 6, "failed"), (201, 1, "completed")])
def test_gone_ends_it_at_once_and_a_redirect_is_a_refusal(
    post: Post, receiver: Receiver, status: int, requests: int, end: str
) -> None:
    receiver.statuses = [status]
    post.hook(receiver.url)
    post.tell()

    post.fan_out()
    post.send_all()
    for _ in range(6):
        post.try_due()

    assert [request.path for request in receiver.received] == ["/hook"] * requests
    assert [row["status"] for row in post.rows()] == [end]


def test_a_hook_that_moved_is_called_where_it_is_now(post: Post, receiver: Receiver) -> None:
    hook = post.hook("https://127.0.0.1:1/nobody")
    post.tell()
    post.fan_out()
    post.messages.orders.clear()
    post.sql("UPDATE webhook_deliveries SET lease_until = '-infinity'")
    post.sql("UPDATE webhooks SET url = %s WHERE webhook_id = %s", receiver.url, hook)

    post.try_due()

    assert len(receiver.received) == 1
    assert [row["url"] for row in post.rows()] == [receiver.url]


def test_an_order_that_comes_when_its_lease_is_nearly_over_is_dropped(post: Post, receiver: Receiver) -> None:
    post.hook(receiver.url)
    post.tell()
    post.fan_out()

    post.clock.ahead = timedelta(minutes=5)
    post.send_all()

    assert receiver.received == []
    assert [row["status"] for row in post.rows()] == ["pending"]


@pytest.mark.parametrize(
    ("url", "leads_to"),
    [
        ("https://169.254.169.254/latest/meta-data", None),
        ("https://localhost/", None),
        ("https://127.0.0.1/", None),
        ("https://rebinding.example.com/", "127.0.0.1"),
        ("https://metadata.example.com/", "169.254.169.254"),
    ],
)
def test_nothing_is_sent_inside_even_if_the_hook_is_there(
    post: Post, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, url: str, leads_to: str | None
) -> None:
    """A hook that passed when it was made, and whose name leads elsewhere when it is called."""
    post.settings = Settings()
    post.hook(url)
    post.tell()
    tried: list[Any] = []
    monkeypatch.setattr(egress.GuardedOutbound.__init__, "__defaults__", (_leading(leads_to),))
    monkeypatch.setattr("socket.create_connection", lambda *where, **_: tried.append(where))

    post.fan_out()
    post.send_all()

    assert (tried, receiver.received) == ([], [])
    (row,) = post.rows()
    assert (row["status"], row["attempts"]) == ("pending", 1)
    assert row["last_error"].startswith("not sent: the URL")


def test_the_guard_cannot_be_opened_in_the_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS", '["127.0.0.1"]')

    with pytest.raises(WrongSetting, match="HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS"):
        load_settings()

    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    assert load_settings().hindsight_api_webhook_allowed_hosts == ("127.0.0.1",)


def _leading(leads_to: str | None) -> egress.Resolve:
    def find(host: str, port: int) -> list[Address]:
        assert leads_to is not None, f"{host} was looked up"
        return [ip_address(leads_to)]

    return find
