"""The company that names keep: who is named beside whom and when, over a retain's facts and the bank's.

Pure; used by resolve for names that are alike but not the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from math import sqrt
from typing import Final

_NAME_WEIGHT: Final = 0.5
_COMPANY_WEIGHT: Final = 0.3
_RECENCY_WEIGHT: Final = 0.2
_RECENT: Final = timedelta(days=7)
LEAST_SCORE: Final = 0.6


class Company:
    """Who is named with whom, by name keys; the same whether facts came in one retain or in several."""

    def __init__(self) -> None:
        self._together: dict[str, set[str]] = defaultdict(set)
        self._last: dict[str, datetime] = {}

    def fact(self, names: Iterable[str], at: datetime | None) -> None:
        """Notes a fact of the retain: its names, and when it happened if that is known."""
        named = set(names)
        for name in named:
            self._together[name] |= named - {name}
            self.seen(name, at)

    def stored(self, name: str, others: Iterable[str]) -> None:
        """Notes whom the bank's facts name beside an entity."""
        for other in others:
            self._together[name].add(other)
            self._together[other].add(name)

    def join(self, name: str, into: str) -> None:
        """Two names have become one: what was noted of the first is noted of the second."""
        for other in self._together.pop(name, ()):
            self._together[other].discard(name)
            self.stored(into, [other])
        self.seen(into, self._last.pop(name, None))

    def seen(self, name: str, at: datetime | None) -> None:
        """Notes when a dated fact named it."""
        if at is not None and (name not in self._last or self._last[name] < at):
            self._last[name] = at

    def of(self, name: str) -> frozenset[str]:
        """Whom the facts noted so far name together with it."""
        return frozenset(self._together.get(name, ()))

    def score(self, left: str, right: str, likeness: float) -> float:
        """Whether two names that are alike are one: from 0 to 1, one entity from `LEAST_SCORE` on; symmetric.

        0.5 × their likeness + 0.3 × the company they share, each companion weighted by 1/√(its companions), over the
        smaller company of the two + 0.2 × how close in time they were named, within 7 days.  Names that one fact sets
        side by side are two things: 0.
        """
        if right in self._together.get(left, ()):
            return 0.0
        shared = self._shared(left, right)
        return round(
            _NAME_WEIGHT * likeness + _COMPANY_WEIGHT * shared + _RECENCY_WEIGHT * self._recency(left, right), 6
        )

    def _shared(self, left: str, right: str) -> float:
        ours, theirs = self._together.get(left, set()), self._together.get(right, set())
        smaller = min(len(ours), len(theirs))
        return sum(1 / sqrt(len(self._together[other])) for other in ours & theirs) / smaller if smaller else 0.0

    def _recency(self, left: str, right: str) -> float:
        ours, theirs = self._last.get(left), self._last.get(right)
        return 0.0 if ours is None or theirs is None else max(0.0, 1 - abs(ours - theirs) / _RECENT)
