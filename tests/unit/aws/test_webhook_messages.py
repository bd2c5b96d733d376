"""Orders and receipts over SQS: each on its own queue, and nothing of them in the log when they cannot be sent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from uuid import uuid4

import boto3
import pytest
from botocore.stub import Stubber

from hindsight_aws.aws.webhook_messages import SqsWebhookMessages
from hindsight_aws.model.ids import TenantId
from hindsight_aws.settings import Settings

_SEND = "http://127.0.0.1:1/queue/send"
_DELIVER = "http://127.0.0.1:1/queue/deliver"
_TENANT = TenantId(uuid4())


@pytest.fixture
def messages() -> SqsWebhookMessages:
    queues = {"hindsight_queue_send_url": _SEND, "hindsight_queue_deliver_url": _DELIVER}
    return SqsWebhookMessages(Settings().model_copy(update=queues))


@pytest.fixture
def stub(messages: SqsWebhookMessages) -> Iterator[Stubber]:
    client = boto3.session.Session().client("sqs", region_name="eu-central-1")
    messages.__dict__["_client"] = client
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()
    client.close()


def test_orders_and_receipts_have_queues_of_their_own(messages: SqsWebhookMessages, stub: Stubber) -> None:
    for url, delay in ((_SEND, 0), (_DELIVER, 60)):
        expected = {"QueueUrl": url, "MessageBody": "{}", "MessageGroupId": str(_TENANT), "DelaySeconds": delay}
        stub.add_response("send_message", {"MessageId": "m", "MD5OfMessageBody": "0"}, expected)

    messages.to_send(_TENANT, "{}")
    messages.to_deliver(_TENANT, "{}", 60)


def test_a_message_that_cannot_be_sent_is_logged_without_what_it_holds(
    messages: SqsWebhookMessages, stub: Stubber, caplog: pytest.LogCaptureFixture
) -> None:
    stub.add_client_error("send_message", "ServiceUnavailable", "hush", http_status_code=503)

    with caplog.at_level(logging.WARNING):
        messages.to_send(_TENANT, '{"headers": "hush"}')

    assert "was not sent" in caplog.text
    assert "hush" not in caplog.text


def test_where_there_is_no_queue_nothing_is_sent() -> None:
    SqsWebhookMessages(Settings()).to_send(_TENANT, "{}")
