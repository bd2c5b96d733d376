"""The queues and SQS's actions on them, over typed parameters. Called by the endpoint; pollers take its queues."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Final

from infra.local.sqs.errors import SqsError, invalid_value, queue_does_not_exist
from infra.local.sqs.parameters import Json, Parameters
from infra.local.sqs.queue import MessageQueue, QueueSettings
from infra.local.sqs.rendering import attributes_digest, body_digest, render_attributes, render_delivery
from infra.local.sqs.validation import MAX_BATCH, MAX_BYTES, check_batch, check_body, message_size

REGION: Final = "us-east-1"
ACCOUNT: Final = "000000000000"

Action = Callable[[Parameters], Awaitable[dict[str, Json]]]


class QueueService:
    """All queues of one endpoint. `address` is what queue URLs start with, known once the endpoint listens."""

    def __init__(self) -> None:
        self.queues: Final[dict[str, MessageQueue]] = {}
        self.address = ""
        self._actions: dict[str, Action] = {
            "CreateQueue": self._create_queue,
            "GetQueueUrl": self._get_queue_url,
            "ListQueues": self._list_queues,
            "GetQueueAttributes": self._get_queue_attributes,
            "PurgeQueue": self._purge_queue,
            "SendMessage": self._send_message,
            "SendMessageBatch": self._send_message_batch,
            "ReceiveMessage": self._receive_message,
            "DeleteMessage": self._delete_message,
            "DeleteMessageBatch": self._delete_message_batch,
            "ChangeMessageVisibility": self._change_message_visibility,
            "ChangeMessageVisibilityBatch": self._change_message_visibility_batch,
            "StartMessageMoveTask": self._start_message_move_task,
        }

    async def run(self, action: str, parameters: Parameters) -> dict[str, Json]:
        """Runs one action. Raises: SqsError."""
        handler = self._actions.get(action)
        if handler is None:
            raise SqsError("InvalidAction", f"The action {action} is not valid for this endpoint.")
        return await handler(parameters)

    def create(self, name: str, settings: QueueSettings, dead_letters: MessageQueue | None = None) -> MessageQueue:
        """Makes a queue, or returns the one of that name. Raises: SqsError, when that one has other settings."""
        known = self.queues.get(name)
        if known is not None:
            if known.settings != settings:
                raise SqsError(
                    "QueueNameExists", "A queue already exists with the same name and a different value for attributes."
                )
            return known
        queue = self.queues[name] = MessageQueue(name, settings, dead_letters)
        return queue

    def url(self, name: str) -> str:
        """A queue's URL."""
        return f"{self.address}/{ACCOUNT}/{name}"

    def close(self) -> None:
        """Ends every waiting receiver."""
        for queue in self.queues.values():
            queue.close()

    def _queue(self, parameters: Parameters) -> MessageQueue:
        return self._by_name(parameters.text("QueueUrl").rsplit("/", 1)[-1])

    def _by_name(self, name: str) -> MessageQueue:
        queue = self.queues.get(name)
        if queue is None:
            raise queue_does_not_exist()
        return queue

    async def _create_queue(self, parameters: Parameters) -> dict[str, Json]:
        attributes = parameters.nested("Attributes")
        if attributes.optional_text("FifoQueue") == "true":
            raise SqsError("UnsupportedOperation", "This endpoint has standard queues only.")
        redrive_text = attributes.optional_text("RedrivePolicy")
        dead_letters, receive_count = None, 0
        if redrive_text is not None:
            redrive = Parameters.parse(redrive_text)
            dead_letters = self._by_name(redrive.text("deadLetterTargetArn").rsplit(":", 1)[-1])
            receive_count = redrive.number("maxReceiveCount", 1, 1000)
        default = QueueSettings()
        settings = QueueSettings(
            visibility=attributes.number("VisibilityTimeout", 0, 43_200, int(default.visibility)),
            delay=attributes.number("DelaySeconds", 0, 900, 0),
            wait=attributes.number("ReceiveMessageWaitTimeSeconds", 0, 20, 0),
            retention=attributes.number("MessageRetentionPeriod", 60, 1_209_600, int(default.retention)),
            max_message_bytes=attributes.number("MaximumMessageSize", 1024, MAX_BYTES, MAX_BYTES),
            max_receive_count=receive_count,
        )
        return {"QueueUrl": self.url(self.create(parameters.text("QueueName"), settings, dead_letters).name)}

    async def _get_queue_url(self, parameters: Parameters) -> dict[str, Json]:
        return {"QueueUrl": self.url(self._by_name(parameters.text("QueueName")).name)}

    async def _list_queues(self, parameters: Parameters) -> dict[str, Json]:
        prefix = parameters.optional_text("QueueNamePrefix") or ""
        return {"QueueUrls": [self.url(name) for name in self.queues if name.startswith(prefix)]}

    async def _get_queue_attributes(self, parameters: Parameters) -> dict[str, Json]:
        every = render_attributes(self._queue(parameters), f"arn:aws:sqs:{REGION}:{ACCOUNT}:")
        wanted = parameters.texts("AttributeNames")
        return {"Attributes": {name: value for name, value in every.items() if "All" in wanted or name in wanted}}

    async def _purge_queue(self, parameters: Parameters) -> dict[str, Json]:
        self._queue(parameters).purge()
        return {}

    async def _send_message(self, parameters: Parameters) -> dict[str, Json]:
        return _send(self._queue(parameters), parameters)

    async def _send_message_batch(self, parameters: Parameters) -> dict[str, Json]:
        queue, entries = self._queue(parameters), parameters.entries("Entries")
        check_batch(entries)
        if sum(message_size(entry.text("MessageBody"), entry.message_attributes()) for entry in entries) > MAX_BYTES:
            raise SqsError("BatchRequestTooLong", f"Batch requests cannot be longer than {MAX_BYTES} bytes.")
        return _each(entries, lambda entry: _send(queue, entry))

    async def _receive_message(self, parameters: Parameters) -> dict[str, Json]:
        queue = self._queue(parameters)
        limit = parameters.number("MaxNumberOfMessages", 1, MAX_BATCH, 1)
        visibility = parameters.optional_number("VisibilityTimeout", 0, 43_200)
        wait = parameters.optional_number("WaitTimeSeconds", 0, 20)
        deliveries = await queue.receive(limit, visibility, wait)
        return {"Messages": [render_delivery(delivery) for delivery in deliveries]} if deliveries else {}

    async def _delete_message(self, parameters: Parameters) -> dict[str, Json]:
        self._queue(parameters).delete(parameters.text("ReceiptHandle"))
        return {}

    async def _delete_message_batch(self, parameters: Parameters) -> dict[str, Json]:
        queue, entries = self._queue(parameters), parameters.entries("Entries")
        check_batch(entries)

        def delete(entry: Parameters) -> dict[str, Json]:
            queue.delete(entry.text("ReceiptHandle"))
            return {}

        return _each(entries, delete)

    async def _change_message_visibility(self, parameters: Parameters) -> dict[str, Json]:
        return _change(self._queue(parameters), parameters)

    async def _change_message_visibility_batch(self, parameters: Parameters) -> dict[str, Json]:
        queue, entries = self._queue(parameters), parameters.entries("Entries")
        check_batch(entries)
        return _each(entries, lambda entry: _change(queue, entry))

    async def _start_message_move_task(self, parameters: Parameters) -> dict[str, Json]:
        source = self.queues.get(parameters.text("SourceArn").rsplit(":", 1)[-1])
        if source is None or all(queue.dead_letters is not source for queue in self.queues.values()):
            raise SqsError("ResourceNotFoundException", "The source queue is not a dead-letter queue.")
        destination = parameters.optional_text("DestinationArn")
        source.move_all_to_source(self._by_name(destination.rsplit(":", 1)[-1]) if destination else None)
        await asyncio.sleep(0)
        return {"TaskHandle": str(uuid.uuid4())}


def _send(queue: MessageQueue, entry: Parameters) -> dict[str, Json]:
    body, attributes = entry.text("MessageBody"), entry.message_attributes()
    check_body(body, attributes, queue.settings.max_message_bytes)
    if entry.optional_text("MessageDeduplicationId") is not None:
        raise invalid_value(
            "MessageDeduplicationId", "The request include parameter that is not valid for this queue type."
        )
    delay = entry.optional_number("DelaySeconds", 0, 900)
    trace = entry.nested("MessageSystemAttributes").nested("AWSTraceHeader").optional_text("StringValue")
    message_id = queue.send(body, entry.optional_text("MessageGroupId"), attributes, delay, trace)
    answer: dict[str, Json] = {"MessageId": message_id, "MD5OfMessageBody": body_digest(body)}
    if attributes:
        answer["MD5OfMessageAttributes"] = attributes_digest(attributes)
    return answer


def _change(queue: MessageQueue, entry: Parameters) -> dict[str, Json]:
    queue.change_visibility(entry.text("ReceiptHandle"), entry.number("VisibilityTimeout", 0, 43_200))
    return {}


def _each(entries: list[Parameters], action: Callable[[Parameters], dict[str, Json]]) -> dict[str, Json]:
    """Runs an action per batch entry; one that fails does not keep the others from succeeding."""
    done: list[Json] = []
    failed: list[Json] = []
    for entry in entries:
        entry_id = entry.text("Id")
        try:
            done.append({"Id": entry_id, **action(entry)})
        except SqsError as error:
            failed.append({"Id": entry_id, "SenderFault": True, "Code": error.code, "Message": error.message})
    return {"Successful": done, "Failed": failed} if failed else {"Successful": done}
