"""Until when a recall may look, and what it had to leave out.  Made by recall/recall.py; read by all of recall/.

Calls of models that come too late go on by themselves, a few at a time, and nobody waits for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, TypeVar

T = TypeVar("T")

_MOST_AT_ONCE: Final = 8
# Of the whole time, what is kept for reading the rows of what was found; in milliseconds at least and at most.
_KEPT: Final = 0.2
_LEAST_KEPT, _MOST_KEPT = 5, 300
# Reading what was found may take this long past the end, in milliseconds: else all the looking was in vain.
_GRACE: Final = 20


class OutOfTime(Exception):
    """What was asked for did not come in the time that it had; `began` says whether it was begun at all."""

    def __init__(self, began: bool) -> None:
        super().__init__("out of time")
        self.began = began


class Deadline:
    """A moment, counted from when this is made, and the names of what was cut for its sake."""

    def __init__(self, milliseconds: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + milliseconds / 1000
        self._kept = min(max(milliseconds * _KEPT, _LEAST_KEPT), _MOST_KEPT, milliseconds / 2)
        self.cut: list[str] = []
        """The names of what was left out, each once."""

    @property
    def left_ms(self) -> int:
        """The milliseconds that are left."""
        return max(0, round((self._end - self._clock()) * 1000))

    @property
    def to_look_ms(self) -> int:
        """The milliseconds that one step of looking may take: half of what is left, so that others have their turn."""
        return max(0, round((self.left_ms - self._kept) / 2))

    @property
    def to_read_ms(self) -> int:
        """The milliseconds that a step of reading what was found may take: a little, even when none are left."""
        return max(self.left_ms // 2, _GRACE)

    def give_up(self, *names: str) -> None:
        """Notes that these were cut."""
        self.cut += [name for name in names if name not in self.cut]

    def in_time(self, call: Callable[[], T]) -> T:
        """What a call of a model gives.  Raises OutOfTime, and whatever it raises itself.

        Eight may be late at a time; what comes while they are is not begun.
        """
        if not self.to_look_ms:
            raise OutOfTime(began=False)
        asked = _late().submit(call)
        try:
            return asked.result(self.to_look_ms / 1000)
        except TimeoutError:
            if asked.done() and not asked.cancelled():
                return asked.result()
            raise OutOfTime(began=not asked.cancel()) from None


@cache
def _late() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_AT_ONCE, "recall")
