"""What tests do to queues: send, count, wait, and mischief within SQS's promises. Reached by `LocalStack.queues`."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from infra.local.sqs import QueueService

Answer = TypeVar("Answer")


class OnLoop(Protocol):
    """Runs a call on the supervisor's loop and returns its answer."""

    def __call__(self, call: Callable[[], Answer]) -> Answer:
        """Promises that no other part of the stack runs meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many messages a queue holds, by state, and how many lie in its dead-letter queue.

    `largest`: bytes of the largest body ever sent to it. `oldest`: seconds since its oldest message was sent.
    """

    visible: int
    in_flight: int
    delayed: int
    dead: int
    lost: int
    largest: int
    oldest: float = 0.0

    @property
    def is_drained(self) -> bool:
        """Whether nothing is left to be worked on."""
        return self.visible == self.in_flight == self.delayed == 0


class QueueControls:
    """Controls over the queues by name. Mischief applies to the next messages that pass, `times` of them."""

    def __init__(self, service: QueueService, on_loop: OnLoop) -> None:
        self._service = service
        self._on_loop = on_loop

    def url(self, name: str) -> str:
        """The queue's URL, for a real client."""
        return self._service.url(name)

    def send(self, name: str, body: str, group: str | None = None, delay: float | None = None) -> str:
        """Sends a message and returns its id."""
        return self._on_loop(lambda: self._service.queues[name].send(body, group, {}, delay))

    def lose(self, name: str, times: int = 1) -> None:
        """The next messages sent never arrive."""
        self._on_loop(lambda: setattr(self._service.queues[name].mischief, "lose", times))

    def double(self, name: str, times: int = 1) -> None:
        """The next messages sent arrive twice."""
        self._on_loop(lambda: setattr(self._service.queues[name].mischief, "double", times))

    def delay(self, name: str, seconds: float, times: int = 1) -> None:
        """The next messages sent arrive late."""

        def apply() -> None:
            mischief = self._service.queues[name].mischief
            mischief.delay, mischief.delay_seconds = times, seconds

        self._on_loop(apply)

    def shuffle(self, name: str, seed: int) -> None:
        """Messages arrive in a random order from now on."""
        shuffler = random.Random(seed)  # noqa: S311 - repeatable disorder, no secret
        self._on_loop(lambda: setattr(self._service.queues[name].mischief, "shuffle", shuffler))

    def behave(self, name: str) -> None:
        """Ends all mischief."""
        self._on_loop(self._service.queues[name].mischief.reset)

    def purge(self, name: str) -> None:
        """Forgets every message of the queue."""
        self._on_loop(self._service.queues[name].purge)

    def counts(self, name: str) -> QueueCounts:
        """What the queue holds now."""

        def count() -> QueueCounts:
            queue = self._service.queues[name]
            dead = sum(queue.dead_letters.counts) if queue.dead_letters is not None else 0
            lost, largest = queue.mischief.lost, queue.largest
            return QueueCounts(*queue.counts, dead=dead, lost=lost, largest=largest, oldest=queue.oldest_s)

        return self._on_loop(count)

    def wait_until_drained(self, name: str, timeout: float = 60.0) -> None:
        """Waits until every message has been settled. Raises: TimeoutError."""
        deadline = time.monotonic() + timeout
        while not (counts := self.counts(name)).is_drained:
            if time.monotonic() > deadline:
                raise TimeoutError(f"queue {name} is not drained: {counts}")
            time.sleep(0.02)
