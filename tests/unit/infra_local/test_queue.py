"""A queue delivers at least once, fairly, and puts aside what cannot be finished."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass

import pytest

from infra.local.sqs import MessageQueue, QueueSettings
from infra.local.sqs.errors import SqsError

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class TurnedClock:
    """A clock that moves when a test turns it, so that no stall of the machine makes a message visible."""

    now: float = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return time.time()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TurnedClock:
    turned = TurnedClock()
    monkeypatch.setattr("infra.local.sqs.queue.time", turned)
    return turned


def send(queue: MessageQueue, *bodies: str, group: str | None = None) -> None:
    for body in bodies:
        queue.send(body, group, {}, None)


async def bodies(queue: MessageQueue, limit: int = 10, visibility: float | None = None) -> list[str]:
    return [delivery.message.body for delivery in await queue.receive(limit, visibility, wait=0)]


async def test_a_message_in_flight_is_hidden_and_returns_with_its_count(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(visibility=30))
    send(queue, "a")

    first = await queue.receive(1, wait=0)
    clock.now += 29.9
    hidden = await queue.receive(1, wait=0)
    clock.now += 0.2
    second = await queue.receive(1, wait=0)

    assert hidden == []
    assert (first[0].receive_count, second[0].receive_count) == (1, 2)
    assert first[0].handle != second[0].handle


async def test_a_deleted_message_never_returns(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(visibility=30))
    send(queue, "a")

    queue.delete((await queue.receive(1, wait=0))[0].handle)
    clock.now += 31

    assert await bodies(queue) == []
    assert queue.counts == (0, 0, 0)


async def test_an_old_receipt_is_accepted_and_deletes_nothing(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(visibility=30))
    send(queue, "a")
    old = (await queue.receive(1, wait=0))[0].handle
    clock.now += 31
    new = (await queue.receive(1, wait=0))[0].handle

    queue.delete(old)

    assert queue.counts == (0, 1, 0)
    queue.delete(new)
    assert queue.counts == (0, 0, 0)


async def test_a_receipt_that_never_was_one_is_refused() -> None:
    queue = MessageQueue("q", QueueSettings())

    with pytest.raises(SqsError) as refused:
        queue.delete("bogus")

    assert refused.value.code == "ReceiptHandleIsInvalid"


async def test_visibility_can_be_shortened_and_lengthened(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(visibility=30))
    send(queue, "a")
    handle = (await queue.receive(1, wait=0))[0].handle

    queue.change_visibility(handle, 90)
    clock.now += 60
    still_hidden = await bodies(queue)
    queue.change_visibility(handle, 0)

    assert still_hidden == []
    assert await bodies(queue) == ["a"]


async def test_visibility_of_a_message_at_rest_cannot_be_changed(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(visibility=30))
    send(queue, "a")
    handle = (await queue.receive(1, wait=0))[0].handle
    clock.now += 31

    with pytest.raises(SqsError) as refused:
        queue.change_visibility(handle, 5)

    assert refused.value.code == "AWS.SimpleQueueService.MessageNotInflight"


async def test_a_message_received_too_often_becomes_a_dead_letter_and_can_be_moved_back() -> None:
    dead = MessageQueue("dead", QueueSettings())
    queue = MessageQueue("q", QueueSettings(visibility=0, max_receive_count=2), dead)
    send(queue, "poison")

    deliveries = [await bodies(queue) for _ in range(3)]

    assert deliveries == [["poison"], ["poison"], []] or deliveries[2] == []
    assert dead.counts == (1, 0, 0)
    assert dead.move_all_to_source(None) == 1
    assert (await queue.receive(1, wait=0))[0].receive_count == 1


async def test_one_busy_group_does_not_starve_another() -> None:
    queue = MessageQueue("q", QueueSettings())
    send(queue, *(f"busy {n}" for n in range(100)), group="busy")
    send(queue, "quiet", group="quiet")

    first_two = await bodies(queue, 2)

    assert "quiet" in first_two


async def test_a_receiver_that_waits_is_woken_by_a_send() -> None:
    queue = MessageQueue("q", QueueSettings())
    waiting = asyncio.create_task(queue.receive(1, wait=600))
    await asyncio.sleep(0)

    send(queue, "a")

    async with asyncio.timeout(60):
        assert [delivery.message.body for delivery in await waiting] == ["a"]


async def test_a_delayed_message_wakes_a_waiting_receiver_when_it_is_due() -> None:
    queue = MessageQueue("q", QueueSettings())
    waiting = asyncio.create_task(queue.receive(1, wait=600))
    await asyncio.sleep(0)

    queue.send("later", None, {}, 0.05)

    async with asyncio.timeout(60):
        assert [delivery.message.body for delivery in await waiting] == ["later"]


async def test_many_receivers_never_share_a_message() -> None:
    queue = MessageQueue("q", QueueSettings())
    receivers = [asyncio.create_task(queue.receive(3, wait=0.3)) for _ in range(20)]
    await asyncio.sleep(0)

    send(queue, *(str(n) for n in range(40)))
    got = [delivery.message.body for batch in await asyncio.gather(*receivers) for delivery in batch]

    assert max(Counter(got).values()) == 1


async def test_mischief_loses_doubles_delays_and_shuffles() -> None:
    queue = MessageQueue("q", QueueSettings())
    queue.mischief.lose = 1
    send(queue, "lost")
    queue.mischief.double = 1
    send(queue, "twice")
    queue.mischief.delay, queue.mischief.delay_seconds = 1, 60.0
    send(queue, "late")

    assert await bodies(queue) == ["twice", "twice"]
    assert queue.counts == (0, 2, 1)
    assert queue.mischief.lost == 1

    queue.mischief.shuffle = random.Random(3)
    send(queue, *(str(n) for n in range(10)))
    assert await bodies(queue) != [str(n) for n in range(10)]


async def test_an_expired_message_is_forgotten(clock: TurnedClock) -> None:
    queue = MessageQueue("q", QueueSettings(retention=60))
    send(queue, "old")
    clock.now += 61

    assert await bodies(queue) == []
    assert queue.counts == (0, 0, 0)
