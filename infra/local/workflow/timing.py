"""Time and chance for an execution, so that tests may set both."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Clock(Protocol):
    """Tells seconds and lets them pass."""

    def now(self) -> float:
        """Seconds since some fixed instant."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns after that many seconds."""
        ...


class MachineClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Timing:
    """A clock, and a source of numbers in [0, 1) for jitter."""

    clock: Clock = field(default_factory=MachineClock)
    chance: Callable[[], float] = random.random
