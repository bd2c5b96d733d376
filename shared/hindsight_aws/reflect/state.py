"""What a reflect run remembers between steps, what may happen to it, and what it may do next; all plain values.

Made and read by planner.py; codec.py writes it to the run's row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from hindsight_aws.ports.model_gateway import JsonObject


class Phase(StrEnum):
    """Where a run is: which event it waits for."""

    NEW = "new"
    SEARCHING = "searching"
    ASKING = "asking"
    CLOSING = "closing"
    SYNTHESISING = "synthesising"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Limits:
    """What was settled when the run was prepared.

    `first` are the tools of the first round, `tools` those the model may use; `turns` bounds its calls;
    `context_tokens` bounds what one call may be shown; `holds_memories` is whether the bank has anything to find.
    """

    question: str
    first: tuple[str, ...]
    tools: tuple[str, ...]
    turns: int
    context_tokens: int
    holds_memories: bool


@dataclass(frozen=True, slots=True)
class RunState:
    """A run between two decisions.

    `asked` counts model calls, `found` the distinct pieces of evidence shown, `failures` the passing failures in a row.
    `evidence_tokens` bounds the evidence of a synthesis.
    """

    limits: Limits
    phase: Phase = Phase.NEW
    asked: int = 0
    found: int = 0
    failures: int = 0
    evidence_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """A tool the model used, as it said it."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class Began:
    """The run was prepared."""


@dataclass(frozen=True, slots=True)
class Searched:
    """Every tool of the round answered; `found` counts the evidence known by now, `tokens` the conversation so far."""

    found: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Replied:
    """The model answered: with tool uses, or with prose alone."""

    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Broke:
    """The model call failed for good; `error` is the error's name, after the workflow's own retries."""

    error: str


@dataclass(frozen=True, slots=True)
class RanOut:
    """The run's time is over but for what an answer takes."""


Event: TypeAlias = Began | Searched | Replied | Broke | RanOut


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool to run: `use_id` is unique in the run, `said` its input as given, `refusal` answers a wrong one."""

    use_id: str
    name: str
    said: JsonObject
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run these, in parallel; their answers keep this order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class AskModel:
    """Make one call of this task, which the phase of the state names in full."""

    task: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The run has its answer: what the model said with `done`, or None when nothing is known."""

    said: JsonObject | None


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The run has no answer; `error` names why, as errors are named."""

    error: str
    message: str


Action: TypeAlias = RunTools | AskModel | Finish | GiveUp

TURN_TASK = "reflect_turn"
CLOSING_TASK = "reflect_closing"
SYNTHESIS_TASK = "reflect_synthesis"
