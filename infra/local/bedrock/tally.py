"""Counts what was asked and keeps the latest requests, for benchmarks and for tests that look at what the model saw.

Called by `app`; calls nothing.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

_KEPT = 400  # requests; a long prompt is some ten kilobytes
_KEPT_TEXTS = 4_000


class Tally:
    """The counters of `GET /__stub__/stats` and the records of `GET /__stub__/requests`."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Zeroes the counters and forgets the requests; calls under way stay counted as in flight."""
        self.calls: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.departures: Counter[str] = Counter()
        self.requests = 0
        self.refused = 0
        self.peak = self.in_flight
        self.first: float | None = None
        self.last: float | None = None
        self.seen: deque[JsonObject] = deque(maxlen=_KEPT)
        self.embedded: deque[str] = deque(maxlen=_KEPT_TEXTS)

    @contextmanager
    def text_call(self) -> Iterator[None]:
        """Counts one Converse request while it runs."""
        self.requests += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.first = self.first or time.time()
        try:
            yield
        finally:
            self.in_flight -= 1
            self.last = time.time()

    def answered(self, task: str, read: int, written: int) -> None:
        """One text call was answered, with so many tokens in and out."""
        self.calls[task] += 1
        self.tokens.update({"in": read, "out": written})

    def stats(self, config: JsonObject) -> JsonObject:
        """All counters; `llm_calls` are answered text calls, `llm_requests` all of them."""
        vectors = self.calls["embed"] + self.calls["rerank"]
        return {
            "calls": {task: count for task, count in self.calls.items() if count},
            "llm_calls": sum(self.calls.values()) - vectors,
            "embed_calls": self.calls["embed"],
            "llm_requests": self.requests,
            "refused": self.refused,
            "tokens": dict(self.tokens),
            "faults": dict(self.faults),
            "departures": dict(self.departures),
            "peak_in_flight": self.peak,
            "in_flight": self.in_flight,
            "first_call": self.first,
            "last_call": self.last,
            "config": config,
        }

    def records(self, task: str | None) -> JsonObject:
        """The latest Converse requests, oldest first, of one task or of all; and the texts embedded last."""
        requests: list[JsonValue] = [record for record in self.seen if task is None or record["task"] == task]
        embedded: list[JsonValue] = [*self.embedded]
        return {"requests": requests, "embedded": embedded}
