"""A batch's answer settles each of its messages as Lambda would."""

import asyncio
import json
from collections.abc import Callable

import pytest

from infra.local.functions import ErrorKind, Failure, Outcome, Success
from infra.local.pollers import QueuePoller
from infra.local.sqs import MessageQueue, QueueSettings
from infra.topology import QueueTrigger

pytestmark = pytest.mark.anyio

Event = dict[str, list[dict[str, str]]]
ERROR = Failure.of(ErrorKind.HANDLER, "E", "m")


class Worker:
    """Answers each batch by a function of its event, and keeps what it saw."""

    def __init__(self, answer: Callable[[Event], Outcome], pause: float = 0.0) -> None:
        self.answer = answer
        self.pause = pause
        self.batches: list[list[str]] = []
        self.running = 0
        self.most = 0

    async def __call__(self, payload: bytes) -> Outcome:
        event: Event = json.loads(payload)
        self.batches.append([record["body"] for record in event["Records"]])
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.pause)
        self.running -= 1
        return self.answer(event)


def failing(event: Event, *bodies: str) -> Success:
    bad = [{"itemIdentifier": record["messageId"]} for record in event["Records"] if record["body"] in bodies]
    return Success(json.dumps({"batchItemFailures": bad}).encode())


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not claim():  # noqa: ASYNC110 - the queue tells nobody what it has settled
            await asyncio.sleep(0.005)


async def run(
    worker: Worker, trigger: QueueTrigger, bodies: list[str], ended: Callable[[MessageQueue], bool]
) -> MessageQueue:
    """Polls until the claim about the queue holds."""
    dead = MessageQueue("dead", QueueSettings())
    queue = MessageQueue("q", QueueSettings(visibility=30, max_receive_count=2), dead)
    for body in bodies:
        queue.send(body, None, {}, None)
    poller = QueuePoller(queue, trigger, worker, redelivery=0.01)
    poller.start()
    await until(lambda: ended(queue))
    await poller.stop()
    return queue


def is_empty(queue: MessageQueue) -> bool:
    return queue.counts == (0, 0, 0)


async def test_a_finished_batch_is_deleted() -> None:
    worker = Worker(lambda _: Success(b"null"))

    queue = await run(worker, QueueTrigger("q", batch_size=2), ["a", "b", "c"], is_empty)

    assert queue.counts == (0, 0, 0)
    assert sorted(len(batch) for batch in worker.batches) == [1, 2]


async def test_only_the_named_message_comes_back_and_then_becomes_a_dead_letter() -> None:
    worker = Worker(lambda event: failing(event, "bad"))

    queue = await run(worker, QueueTrigger("q"), ["good", "bad"], is_empty)

    assert worker.batches[0] == ["good", "bad"]
    assert worker.batches[1:] == [["bad"]]
    assert queue.counts == (0, 0, 0)
    assert queue.dead_letters is not None
    assert queue.dead_letters.counts == (1, 0, 0)


@pytest.mark.parametrize(
    "answer",
    [
        ERROR,
        Success(b'{"batchItemFailures": [{"itemIdentifier": "unknown"}]}'),
        Success(b'{"batchItemFailures": [{"itemIdentifier": ""}]}'),
        Success(b'{"batchItemFailures": [{}]}'),
        Success(b'{"batchItemFailures": "all"}'),
    ],
)
async def test_an_answer_that_names_no_message_brings_the_whole_batch_back(answer: Outcome) -> None:
    worker = Worker(lambda _: answer)

    await run(worker, QueueTrigger("q", max_concurrency=1), ["a", "b"], lambda _: len(worker.batches) >= 2)

    assert worker.batches[:2] == [["a", "b"], ["a", "b"]]


async def test_no_more_batches_run_at_once_than_the_trigger_allows() -> None:
    worker = Worker(lambda _: Success(b"{}"), pause=0.02)

    queue = await run(worker, QueueTrigger("q", batch_size=1, max_concurrency=3), [str(n) for n in range(12)], is_empty)

    assert worker.most == 3
    assert queue.counts == (0, 0, 0)


async def test_a_window_gathers_what_arrives_within_it() -> None:
    worker = Worker(lambda _: Success(b"{}"))
    queue = MessageQueue("q", QueueSettings())
    poller = QueuePoller(queue, QueueTrigger("q", batch_size=10, window=0.1), worker, redelivery=None)
    poller.start()

    for body in ("a", "b", "c"):
        queue.send(body, None, {}, None)
        await asyncio.sleep(0)
    await until(lambda: len(worker.batches) > 0)
    await poller.stop()

    assert worker.batches == [["a", "b", "c"]]
