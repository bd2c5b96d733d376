"""Queue state in SQS's wire shapes. Called by the service and, for a message's attributes, by the pollers."""

import base64
import hashlib
import json
from typing import Final

from infra.local.sqs.parameters import Json
from infra.local.sqs.queue import Delivery, MessageQueue

_TEXT_MARK: Final = b"\x01"
_BYTES_MARK: Final = b"\x02"


def body_digest(body: str) -> str:
    """The MD5 clients check a body by."""
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def attributes_digest(attributes: dict[str, dict[str, str]]) -> str:
    """The MD5 clients check message attributes by: sorted by name, each part preceded by its length."""
    digest = hashlib.md5(usedforsecurity=False)
    for name, value in sorted(attributes.items()):
        kind = value["DataType"]
        is_binary = kind.startswith("Binary")
        content = base64.b64decode(value["BinaryValue"]) if is_binary else value.get("StringValue", "").encode()
        for part in (name.encode(), kind.encode()):
            digest.update(len(part).to_bytes(4, "big") + part)
        digest.update((_BYTES_MARK if is_binary else _TEXT_MARK) + len(content).to_bytes(4, "big") + content)
    return digest.hexdigest()


def system_attributes(delivery: Delivery) -> dict[str, str]:
    """What SQS itself says of a delivered message; times are milliseconds since the epoch."""
    message = delivery.message
    attributes = {
        "ApproximateReceiveCount": str(delivery.receive_count),
        "SentTimestamp": str(int(message.sent_at * 1000)),
        "ApproximateFirstReceiveTimestamp": str(int((message.first_received_at or message.sent_at) * 1000)),
        "SenderId": "local",
    }
    if message.group is not None:
        attributes["MessageGroupId"] = message.group
    if message.trace is not None:
        attributes["AWSTraceHeader"] = message.trace
    return attributes


def render_delivery(delivery: Delivery) -> Json:
    """A message as ReceiveMessage returns it, with every attribute whether asked for or not."""
    message = delivery.message
    rendered: dict[str, Json] = {
        "MessageId": message.message_id,
        "ReceiptHandle": delivery.handle,
        "Body": message.body,
        "MD5OfBody": body_digest(message.body),
        "Attributes": dict(system_attributes(delivery)),
    }
    if message.attributes:
        rendered["MessageAttributes"] = {name: dict(value) for name, value in message.attributes.items()}
        rendered["MD5OfMessageAttributes"] = attributes_digest(message.attributes)
    return rendered


def render_attributes(queue: MessageQueue, arn_prefix: str) -> dict[str, str]:
    """Every attribute of a queue."""
    visible, in_flight, delayed = queue.counts
    settings = queue.settings
    attributes = {
        "QueueArn": arn_prefix + queue.name,
        "ApproximateNumberOfMessages": str(visible),
        "ApproximateNumberOfMessagesNotVisible": str(in_flight),
        "ApproximateNumberOfMessagesDelayed": str(delayed),
        "CreatedTimestamp": str(queue.created_at),
        "LastModifiedTimestamp": str(queue.created_at),
        "VisibilityTimeout": str(int(settings.visibility)),
        "MaximumMessageSize": str(settings.max_message_bytes),
        "MessageRetentionPeriod": str(int(settings.retention)),
        "DelaySeconds": str(int(settings.delay)),
        "ReceiveMessageWaitTimeSeconds": str(int(settings.wait)),
    }
    if queue.dead_letters is not None:
        policy = {
            "deadLetterTargetArn": arn_prefix + queue.dead_letters.name,
            "maxReceiveCount": settings.max_receive_count,
        }
        attributes["RedrivePolicy"] = json.dumps(policy)
    return attributes
