"""Event source mappings on this machine: takes batches off a queue, invokes its function, settles each message.

Started by the supervisor, one poller per consumed queue. Calls the function pool through `Invoke`.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from infra.local.functions import Failure, Outcome
from infra.local.sqs import Delivery, MessageQueue
from infra.local.sqs.errors import SqsError
from infra.local.sqs.rendering import body_digest, system_attributes
from infra.local.sqs.service import ACCOUNT, REGION
from infra.topology import QueueTrigger

Invoke = Callable[[bytes], Awaitable[Outcome]]

LONG_POLL: Final = 20.0

_log = logging.getLogger(__name__)


class QueuePoller:
    """Feeds one function from one queue, with Lambda's semantics.

    A batch that fails as a whole, and each message its answer names in `batchItemFailures`, comes back; the others are
    deleted. AWS leaves the return to the visibility timeout, half an hour for long jobs; `redelivery` seconds, when not
    None, hasten it, because here the poller knows that the worker is dead.
    """

    def __init__(self, queue: MessageQueue, trigger: QueueTrigger, invoke: Invoke, redelivery: float | None) -> None:
        self._queue = queue
        self._trigger = trigger
        self._invoke = invoke
        self._redelivery = redelivery
        self._slots = asyncio.Semaphore(trigger.max_concurrency)
        self._batches: set[asyncio.Task[None]] = set()
        self._loop_task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to poll."""
        self._loop_task = asyncio.get_running_loop().create_task(self._poll())

    async def stop(self) -> None:
        """Stops polling and drops batches in flight, as the end of the machine would."""
        tasks = [*self._batches, *([self._loop_task] if self._loop_task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _poll(self) -> None:
        while self._queue.is_open:
            await self._slots.acquire()
            batch = await self._collect()
            if not batch:
                self._slots.release()
                continue
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._batches.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        self._slots.release()

    async def _collect(self) -> list[Delivery]:
        size = self._trigger.batch_size
        batch = await self._queue.receive(min(size, 10), wait=LONG_POLL)
        if not batch or self._trigger.window <= 0:
            return batch
        deadline = asyncio.get_running_loop().time() + self._trigger.window
        while len(batch) < size and (remaining := deadline - asyncio.get_running_loop().time()) > 0:
            batch += await self._queue.receive(min(size - len(batch), 10), wait=remaining)
        return batch

    async def _run(self, batch: list[Delivery]) -> None:
        failed = failed_messages(await self._invoke(encode_batch(self._queue.name, batch)), batch)
        for delivery in batch:
            with suppress(SqsError):  # the message became visible meanwhile: another delivery will settle it
                if delivery.message.message_id not in failed:
                    self._queue.delete(delivery.handle)
                elif self._redelivery is not None:
                    self._queue.change_visibility(delivery.handle, self._redelivery)


def encode_batch(queue: str, batch: list[Delivery]) -> bytes:
    """The event Lambda gives a function for a batch of messages."""
    records = [
        {
            "messageId": delivery.message.message_id,
            "receiptHandle": delivery.handle,
            "body": delivery.message.body,
            "attributes": system_attributes(delivery),
            "messageAttributes": {
                name: {key[0].lower() + key[1:]: part for key, part in value.items()}
                for name, value in delivery.message.attributes.items()
            },
            "md5OfBody": body_digest(delivery.message.body),
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
            "awsRegion": REGION,
        }
        for delivery in batch
    ]
    return json.dumps({"Records": records}).encode()


def failed_messages(outcome: Outcome, batch: list[Delivery]) -> set[str]:
    """The ids of the messages that must come back.

    All of them after an error, and after an answer that names a failure Lambda cannot attribute.
    """
    every = {delivery.message.message_id for delivery in batch}
    if isinstance(outcome, Failure):
        return every
    answer = json.loads(outcome.payload or b"null")
    failures = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    if not failures:
        return set()
    if not isinstance(failures, list):
        return every
    named = {failure.get("itemIdentifier") if isinstance(failure, dict) else None for failure in failures}
    if not named <= every:
        _log.error("a batch answer names messages that are not in the batch; all of it comes back")
        return every
    return {name for name in named if isinstance(name, str)}
