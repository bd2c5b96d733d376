"""Latency and failures put in on purpose, drawn from a seeded generator: equal seeds and calls give equal faults.

Called by `app`; calls nothing. The fields are what `POST /__stub__/config` takes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from hindsight_aws.ports.model_gateway import JsonObject

Fault = Literal["throttle", "error", "timeout", "malformed"]


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Rates are shares of calls, 0 to 1. `max_concurrent` above 0 throttles calls past it, as a quota does."""

    latency_ms: float = 0.0
    jitter_ms: float = 0.0
    per_output_token_ms: float = 0.0
    embed_latency_ms: float = 0.0
    throttle_rate: float = 0.0
    error_rate: float = 0.0
    malformed_rate: float = 0.0
    timeout_rate: float = 0.0
    timeout_s: float = 30.0
    max_concurrent: int = 0
    seed: int = 0

    def changed(self, wanted: JsonObject) -> FaultPlan:
        """This plan with some fields set. Raises: ValueError naming a field that is unknown or no number."""
        known = {field.name: field.type for field in fields(self)}
        changes: dict[str, Any] = {}
        for name, value in wanted.items():
            if name not in known or not isinstance(value, int | float):
                raise ValueError(f"{name} is not a fault field that takes {value!r}; known: {', '.join(known)}")
            changes[name] = int(value) if known[name] == "int" else float(value)
        return replace(self, **changes)

    def as_document(self) -> JsonObject:
        """The fields as JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class FaultSource:
    """Draws the fault of each call under the current plan."""

    def __init__(self, plan: FaultPlan) -> None:
        self.plan = plan
        self._random = random.Random(plan.seed)  # noqa: S311 - repeatable faults, not secrets

    def configure(self, wanted: JsonObject) -> None:
        """Changes the plan and starts its sequence anew. Raises: ValueError."""
        self.plan = self.plan.changed(wanted)
        self._random = random.Random(self.plan.seed)  # noqa: S311 - repeatable faults, not secrets

    def draw(self) -> Fault | None:
        """The fault that strikes the next call, if any."""
        plan, point = self.plan, self._random.random()
        rates: tuple[tuple[Fault, float], ...] = (
            ("throttle", plan.throttle_rate),
            ("error", plan.error_rate),
            ("timeout", plan.timeout_rate),
            ("malformed", plan.malformed_rate),
        )
        for fault, rate in rates:
            if point < rate:
                return fault
            point -= rate
        return None

    def text_latency_s(self, output_tokens: int) -> float:
        """How long a text call takes."""
        plan = self.plan
        jitter = self._random.random() * plan.jitter_ms if plan.jitter_ms else 0.0
        return (plan.latency_ms + jitter + plan.per_output_token_ms * output_tokens) / 1000

    def vector_latency_s(self) -> float:
        """How long an embedding or reranking call takes, besides its own work."""
        return self.plan.embed_latency_ms / 1000
