"""Strikes at a system for some minutes of a scaled clock, then lets it recover, and says what is left of it.

Used by `python -m tests.bench chaos` and by the gate, which takes a small dose.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import httpx
import psycopg

from tests.support.chaos.clock import ScaledClock
from tests.support.chaos.readings import Reading, emitted, read
from tests.support.invariants import broken, stranded
from tests.support.receiver import Receiver, receiving
from tests.support.world import World

SWEEP_EVERY_S: Final = 300.0
"""As in the topology; each tick comes twice."""
_KILLED: Final = ("ingest", "consolidate", "deliver", "retain", "sweep")
_CALLERS: Final = 3
_TICK_S: Final = 0.2
_SCOPES: Final = 6
_LOG_TAIL: Final = 4_000
_OPEN: Final = """
    SELECT (SELECT count(*) FROM operations WHERE status IN ('pending', 'processing'))
         + (SELECT count(*) FROM consolidation_work WHERE state <> 'done')
         + (SELECT count(*) FROM webhook_events WHERE status = 'pending')
         + (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS n"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chaos:
    """How hard: `minutes` of throttling on a clock that runs `speed` times as fast as the wall's.

    `kill_every` is in seconds of the wall; `patience` bounds the recovery, in the same. `waiting`: how many of
    the three callers make sync calls.
    """

    minutes: float = 10.0
    speed: float = 10.0
    retains: int = 90
    restarts: int = 3
    kill_every: float = 5.0
    throttled: float = 0.95
    patience: float = 180.0
    waiting: int = 1
    seed: int = 0


@dataclass(slots=True)
class Aftermath:
    """What was acknowledged, what befell the system, what the alarms saw, and what does not hold."""

    acknowledged: list[int] = field(default_factory=list)
    befell: Counter[str] = field(default_factory=Counter)
    readings: list[Reading] = field(default_factory=list)
    recovered_in_s: float = 0.0
    emitted: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def strike(world: World, chaos: Chaos, say: Callable[[str], object]) -> Aftermath:
    """Runs the storm and the recovery on the bank `b`; `say` hears a line for each scaled minute.

    Raises: TimeoutError, when the backlog does not drain within the patience.
    """
    storm = _Storm(world, chaos, say)
    with receiving() as receiver:
        storm.prepare(receiver)
        storm.rage()
        storm.recover()
        storm.judge(receiver)
    return storm.after


class _Storm:
    def __init__(self, world: World, chaos: Chaos, say: Callable[[str], object]) -> None:
        self.after = Aftermath()
        self._world, self._chaos, self._say = world, chaos, say
        self._chance = random.Random(chaos.seed)
        self._clock = ScaledClock(world, chaos.speed)
        self._next_minute, self._next_sweep = 0.0, 0.0
        self._ticks = ThreadPoolExecutor(2)
        self._has_ended = threading.Event()

    def prepare(self, receiver: Receiver) -> None:
        """A bank with a hook; the model says what it reads."""
        hook = {"url": receiver.url, "event_types": ["retain.completed"]}
        assert self._world.send("hook", "b", "POST", "/webhooks", hook).status == 201
        self._world.model.script(
            {"extract": "ONE_FACT_PER_LINE", "consolidate": "ONE_PER_FACT", "judge": {"action": "keep"}}
        )

    def rage(self) -> None:
        """The minutes of trouble, while callers go on retaining."""
        chaos, began = self._chaos, self._clock.now()
        self._world.model.config({"throttle_rate": chaos.throttled, "seed": chaos.seed + 1})
        callers = [threading.Thread(target=self._ask, args=(place,)) for place in range(_CALLERS)]
        for caller in callers:
            caller.start()
        length = chaos.minutes * 60
        restarts = [length * (place + 1) / (chaos.restarts + 1) for place in range(chaos.restarts)]
        next_kill = time.monotonic() + chaos.kill_every
        while (passed := self._clock.now() - began) < length:
            self._live()
            self._muddle()
            if restarts and passed >= restarts[0]:
                restarts.pop(0)
                self._world.stack.kill_postgres()
                self._world.reconnect()
                self.after.befell["database restarts"] += 1
            if time.monotonic() >= next_kill:
                next_kill += chaos.kill_every
                self._kill()
        self._has_ended.set()
        while any(caller.is_alive() for caller in callers):
            self._live()

    def recover(self) -> None:
        """The model answers again, and nothing else happens but the schedule."""
        self._world.model.config({"throttle_rate": 0})
        for queue in ("ingest", "consolidate", "deliver", "send"):
            self._world.stack.queues.behave(queue)
        self._say(f"minute {self._clock.now() / 60:5.1f}: the model answers again")
        began = time.monotonic()
        while not self._is_at_rest():
            if time.monotonic() - began > self._chaos.patience:
                said = self._world.logged()[-_LOG_TAIL:]
                raise TimeoutError(f"the backlog does not drain: {self._reading().line()}\n{said}")
            self._live()
        self._ticks.shutdown()
        self.after.recovered_in_s = time.monotonic() - began
        self.after.readings.append(self._reading())
        self._say(self.after.readings[-1].line())

    def judge(self, receiver: Receiver) -> None:
        """What does not hold afterwards."""
        world, wrong = self._world, self.after.wrong
        banks = world.bank_ids(["b"])
        kept = Counter(memory["text"] for memory in world.memories("b"))
        asked = {text for number in self.after.acknowledged for text in _facts(number)}
        wrong += [f"{text!r} is there {kept[text]} times" for text in sorted(asked) if kept[text] != 1]
        wrong += [f"{text!r} was never acknowledged" for text in sorted(kept.keys() - asked)]
        wrong += broken(world.rows, banks) + stranded(world.rows, banks)
        told = {request.body.partition('"document_id": "')[2].partition('"')[0] for request in receiver.received}
        told |= {request.body.partition('"document_id":"')[2].partition('"')[0] for request in receiver.received}
        wrong += [
            f"nobody was told of parcel-{number}"
            for number in self.after.acknowledged
            if f"parcel-{number}" not in told
        ]
        self.after.emitted = emitted(world)

    def _ask(self, place: int) -> None:
        """Retains one by one while the trouble lasts, each until it is acknowledged."""
        chaos = self._chaos
        pause = chaos.minutes * 60 / chaos.speed / chaos.retains * _CALLERS
        for number in range(place, chaos.retains, _CALLERS):
            item: dict[str, object] = {"content": "\n".join(_facts(number)), "document_id": f"parcel-{number}"}
            body = {"items": [item | {"tags": [f"user:{number % _SCOPES}"]}], "async": place >= chaos.waiting}
            while not self._is_acknowledged(number, body):
                time.sleep(_TICK_S)
            if self._has_ended.wait(pause):
                return

    def _is_acknowledged(self, number: int, body: object) -> bool:
        url = f"/v1/default/banks/{self._world.name('b')}/memories"
        try:
            status = self._world.client.post(url, json=body).status_code
        except httpx.HTTPError:
            status = 0
        if status != httpx.codes.OK:
            self.after.befell[f"answers of {status}" if status else "calls that broke"] += 1
            return False
        self.after.acknowledged.append(number)
        return True

    def _live(self) -> None:
        """A moment passes: waiting rows come nearer, the schedule ticks, each tick twice, and minutes are noted."""
        time.sleep(_TICK_S)
        self._clock.let_pass()
        now = self._clock.now()
        if now >= self._next_sweep:
            self._next_sweep = now + SWEEP_EVERY_S
            for _ in range(2):
                self._ticks.submit(self._world.stack.run_schedule, "sweep")
                self.after.befell["ticks"] += 1
        if now >= self._next_minute:
            self._next_minute = now + 60.0
            try:
                reading = self._reading()
            except psycopg.OperationalError:
                self._world.reconnect()
                return
            self.after.readings.append(reading)
            self._say(reading.line())

    def _muddle(self) -> None:
        """Messages get lost, double, late and out of order."""
        queues, chance = self._world.stack.queues, self._chance
        queue = chance.choice(("ingest", "consolidate", "deliver", "send"))
        queues.shuffle(queue, chance.randrange(1 << 30))
        for what, act in (("lost", queues.lose), ("doubled", queues.double)):
            if chance.random() < 0.2:
                act(queue, 1)
                self.after.befell[f"messages {what}"] += 1
        if chance.random() < 0.2:
            queues.delay(queue, 1.0)

    def _kill(self) -> None:
        """kill -9 of what some function is doing; of all that it has, when it is idle."""
        names = [name for name in _KILLED if self._world.stack.pids()[name]]
        name = self._chance.choice(names or _KILLED)
        killed = self._world.stack.kill_function(name, busy_only=True) or self._world.stack.kill_function(name)
        self.after.befell[f"{name} killed"] += len(killed)

    def _is_at_rest(self) -> bool:
        """Whether no work is open and no message due; a late one that wakes what is done already may lie."""
        counts = [self._world.stack.queues.counts(name) for name in ("ingest", "consolidate", "deliver", "send")]
        if any(one.visible or one.in_flight for one in counts):
            return False
        return bool(self._world.sql(_OPEN)[0]["n"] == 0)

    def _reading(self) -> Reading:
        return read(self._world, self._clock.now() / 60, self._chaos.speed)


def _facts(number: int) -> tuple[str, str]:
    return f"Parcel {number} was sent to Rome.", f"Parcel {number} arrived in house {number * 7}."
