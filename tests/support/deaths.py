"""Workers that die at a named point, in the process of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from types import ModuleType
from typing import Protocol

import pytest


class Killed(BaseException):
    """The worker is gone: nothing that handles errors may see it."""


class Strike(Protocol):
    """Kills the worker when it comes to a point for the nth time, once."""

    def __call__(self, point: str, number: int = 1) -> None: ...


def striking(monkeypatch: pytest.MonkeyPatch, modules: Iterable[ModuleType]) -> Strike:
    """What kills a worker at the points that these modules reach."""

    def at(point: str, number: int = 1) -> None:
        seen: Counter[str] = Counter()

        def reached(name: str) -> None:
            seen[name] += 1
            if name == point and seen[name] == number:
                raise Killed(name)

        for module in modules:
            monkeypatch.setattr(module, "reached", reached)

    return at
