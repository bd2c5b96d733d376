"""One standard queue: visible messages by group in turn, hidden ones by due time. Called by service and pollers.

Lives on one event loop and needs no lock. Times are seconds of the monotonic clock.
"""

import asyncio
import base64
import heapq
import itertools
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from infra.local.sqs.errors import SqsError, queue_does_not_exist
from infra.local.sqs.mischief import Mischief

MAX_IN_FLIGHT: Final = 120_000


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """A queue's attributes; `max_receive_count` counts only together with a dead-letter queue. Times are seconds."""

    visibility: float = 30.0
    delay: float = 0.0
    wait: float = 0.0
    retention: float = 4 * 24 * 3600.0
    max_message_bytes: int = 1024 * 1024
    max_receive_count: int = 0


@dataclass(slots=True, eq=False)
class Message:
    """A message somewhere in its life; `handle` is the receipt of its latest delivery."""

    body: str
    group: str | None
    attributes: dict[str, dict[str, str]]
    message_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    sent_at: float = field(default_factory=time.time)
    first_received_at: float | None = None
    receive_count: int = 0
    handle: str | None = None
    returns_at: float = 0.0
    expires_at: float = 0.0
    is_hidden: bool = False
    source: "MessageQueue | None" = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a message, as it was at that moment."""

    message: Message
    handle: str
    receive_count: int


class MessageQueue:
    """A standard queue: at-least-once, order not promised, groups served in turn so that none starves another."""

    def __init__(self, name: str, settings: QueueSettings, dead_letters: "MessageQueue | None" = None) -> None:
        self.name: Final = name
        self.settings = settings
        self.dead_letters: Final = dead_letters
        self.mischief: Final = Mischief()
        self.created_at: Final = int(time.time())
        self.is_open = True
        self.largest = 0
        self._messages: dict[str, Message] = {}
        self._groups: dict[str | None, deque[Message]] = {}
        self._hidden: list[tuple[float, int, Message]] = []
        self._ticket = itertools.count()
        self._receivers: deque[asyncio.Future[None]] = deque()

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many messages are visible, in flight, and delayed."""
        self._release()
        hidden = [message for message in self._messages.values() if message.is_hidden]
        in_flight = sum(message.handle is not None for message in hidden)
        return len(self._messages) - len(hidden), in_flight, len(hidden) - in_flight

    @property
    def oldest_s(self) -> float:
        """Seconds since the oldest message that is there was sent; 0 when there is none."""
        sent = min((message.sent_at for message in self._messages.values()), default=None)
        return 0.0 if sent is None else max(0.0, time.time() - sent)

    def send(
        self,
        body: str,
        group: str | None,
        attributes: dict[str, dict[str, str]],
        delay: float | None,
        trace: str | None = None,
    ) -> str:
        """Takes a message and returns its id; `trace` is the header by which it carries its sender's trace on."""
        wait = self.settings.delay if delay is None else delay
        wait += self.mischief.extra_delay()
        first = Message(body, group, attributes, trace=trace)
        self.largest = max(self.largest, len(body.encode()))
        for copy in range(self.mischief.copies()):
            message = first if copy == 0 else Message(body, group, attributes, trace=trace)
            message.expires_at = time.monotonic() + self.settings.retention
            self._admit(message, wait)
        return first.message_id

    async def receive(self, limit: int, visibility: float | None = None, wait: float | None = None) -> list[Delivery]:
        """Up to `limit` messages, hidden from others for `visibility`; waits up to `wait` for the first one."""
        deadline = time.monotonic() + (self.settings.wait if wait is None else wait)
        while self.is_open:
            taken = self._take(limit, self.settings.visibility if visibility is None else visibility)
            remaining = deadline - time.monotonic()
            if taken or remaining <= 0:
                return taken
            await self._wait_for_message(remaining)
        return []

    def delete(self, handle: str) -> None:
        """Forgets the message, if this is its latest receipt; an older receipt is accepted and does nothing."""
        message = self._find(handle)
        if message is not None and message.handle == handle:
            self._remove(message)

    def change_visibility(self, handle: str, seconds: float) -> None:
        """Hides a message in flight until `seconds` from now. Raises: SqsError, when it is not in flight."""
        self._release()
        message = self._find(handle)
        if message is None or not message.is_hidden or message.handle != handle:
            raise SqsError("MessageNotInflight", "The specified message isn't in flight.")
        if seconds <= 0:
            self._show(message)
        else:
            self._hide(message, seconds)

    def purge(self) -> None:
        """Forgets every message."""
        self._messages.clear()
        self._groups.clear()
        self._hidden.clear()

    def close(self) -> None:
        """Ends waiting receivers; nothing is delivered any more."""
        self.is_open = False
        self._wake_receivers(len(self._receivers))

    def move_all_to_source(self, destination: "MessageQueue | None") -> int:
        """Moves every visible dead letter back where it came from, or to `destination`; counts them."""
        self._release()
        moved = [message for message in self._messages.values() if not message.is_hidden]
        for message in moved:
            target = destination or message.source
            if target is None:
                raise queue_does_not_exist()
            self._remove(message)
            message.receive_count = 0
            message.handle = None
            target._admit(message, 0.0)
        return len(moved)

    def _admit(self, message: Message, delay: float) -> None:
        self._messages[message.message_id] = message
        if delay > 0:
            self._hide(message, delay)
        else:
            self._show(message)

    def _remove(self, message: Message) -> None:
        self._messages.pop(message.message_id, None)

    def _hide(self, message: Message, seconds: float) -> None:
        message.is_hidden = True
        message.returns_at = time.monotonic() + seconds
        heapq.heappush(self._hidden, (message.returns_at, next(self._ticket), message))
        self._wake_receivers(1)  # whoever waits may have to wait less long now

    def _show(self, message: Message) -> None:
        message.is_hidden = False
        self._groups.setdefault(message.group, deque()).append(message)
        self._wake_receivers(1)

    def _release(self) -> None:
        """Shows what is due, and drops stale entries: a message may have been hidden again, shown or deleted since."""
        now = time.monotonic()
        while self._hidden and self._hidden[0][0] <= now:
            due, _, message = heapq.heappop(self._hidden)
            if message.is_hidden and message.returns_at == due and message.message_id in self._messages:
                self._show(message)

    def _take(self, limit: int, visibility: float) -> list[Delivery]:
        self._release()
        if self.mischief.shuffle is not None:
            for waiting in self._groups.values():
                self.mischief.shuffle.shuffle(waiting)
        taken: list[Delivery] = []
        while len(taken) < limit and self._groups:
            group = next(iter(self._groups))
            waiting = self._groups.pop(group)
            message = waiting.popleft()
            if waiting:
                self._groups[group] = waiting  # to the end of the line: groups take turns
            if message.is_hidden or self._messages.get(message.message_id) is not message:
                continue
            if not self._is_dropped(message):
                taken.append(self._deliver(message, visibility))
        return taken

    def _is_dropped(self, message: Message) -> bool:
        """Whether the message is too old, or has been received too often and now is a dead letter."""
        if message.expires_at <= time.monotonic():
            self._remove(message)
            return True
        if self.dead_letters is not None and 0 < self.settings.max_receive_count <= message.receive_count:
            self._remove(message)
            message.source = self
            message.handle = None
            message.expires_at = time.monotonic() + self.dead_letters.settings.retention
            self.dead_letters._admit(message, 0.0)
            return True
        return False

    def _deliver(self, message: Message, visibility: float) -> Delivery:
        if len(self._hidden) >= MAX_IN_FLIGHT:
            raise SqsError("OverLimit", "Too many messages in flight.")
        message.receive_count += 1
        message.first_received_at = message.first_received_at or time.time()
        message.handle = base64.b64encode(f"{message.message_id}:{uuid.uuid4()}".encode()).decode()
        if visibility > 0:
            self._hide(message, visibility)
        else:
            self._show(message)
        return Delivery(message, message.handle, message.receive_count)

    def _find(self, handle: str) -> Message | None:
        try:
            message_id, separator, _ = base64.b64decode(handle, validate=True).decode().partition(":")
        except ValueError:
            separator, message_id = "", ""
        if not separator:
            raise SqsError("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
        return self._messages.get(message_id)

    def _wake_receivers(self, count: int) -> None:
        while count > 0 and self._receivers:
            receiver = self._receivers.popleft()
            if not receiver.done():
                receiver.set_result(None)
                count -= 1

    async def _wait_for_message(self, patience: float) -> None:
        if self._hidden:
            patience = min(patience, max(0.001, self._hidden[0][0] - time.monotonic()))
        receiver: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._receivers.append(receiver)
        try:
            async with asyncio.timeout(patience):
                await receiver
        except TimeoutError:
            pass
        finally:
            if receiver in self._receivers:
                self._receivers.remove(receiver)
