"""What reflect asks of the database and of the workflow service: run rows, their steps, and what the tools look up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, RunId, TenantId, UnitId
from hindsight_aws.ports.model_gateway import JsonObject

RunStatus = Literal["running", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be written; `request` holds what its steps need, equal requests of a caller share `request_hash`."""

    bank_id: BankId
    run_id: RunId
    request_hash: str
    subject: str
    request: JsonObject
    deadline_seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """A run's row.  `action` is the last decision; `answer` is there once completed, `error` once failed."""

    bank_id: BankId
    run_id: RunId
    subject: str
    request: JsonObject
    state: JsonObject
    action: JsonObject | None
    turn: int
    status: RunStatus
    answer: JsonObject | None
    error: str | None
    error_message: str | None
    seconds_left: float
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did; `output` is None while it has not answered."""

    turn: int
    name: str
    input: JsonObject
    output: JsonObject | None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A fact with what it was taken from; `chunk` and `document` are None where none was asked for or kept."""

    id: UnitId
    text: str
    fact_type: str
    context: str | None
    tags: tuple[str, ...]
    document_id: str | None
    document_tags: tuple[str, ...]
    chunk: str | None
    document: str | None


@dataclass(frozen=True, slots=True)
class Cited:
    """A memory as it is now, for `based_on`."""

    id: UnitId
    text: str
    fact_type: str
    context: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    document_id: str | None
    chunk_index: int | None
    tags: tuple[str, ...]
    metadata: Mapping[str, str]


class ReflectRuns(Protocol):
    """The reflect runs of the transaction's tenant."""

    def joinable(self, bank_id: BankId, request_hash: str, within_seconds: float) -> Run | None:
        """The run that an equal request may share, or None.

        One that is running, or one that ended at most `within_seconds` ago, was delivered to nobody, and since whose
        beginning nothing was written to the bank.
        """
        ...

    def create(self, run: NewRun) -> bool:
        """Writes the run; False when an equal request's run is running already.  Runs of the bank from yesterday go."""
        ...

    def find(self, bank_id: BankId, run_id: RunId) -> Run | None:
        """The run, or None."""
        ...

    def begin(self, bank_id: BankId, run_id: RunId, state: JsonObject) -> bool:
        """Writes the first state of a run that has none yet; False when it has one or has ended."""
        ...

    def advance(self, bank_id: BankId, run_id: RunId, turn: int, state: JsonObject, action: JsonObject) -> bool:
        """Writes the decision taken at `turn` and moves to the next; False when the run has moved on or ended."""
        ...

    def complete(self, bank_id: BankId, run_id: RunId, answer: JsonObject) -> bool:
        """Ends a running run with its answer; False when it has ended."""
        ...

    def fail(self, bank_id: BankId, run_id: RunId, error: str, message: str) -> bool:
        """Ends a running run without an answer; False when it has ended."""
        ...

    def mark_delivered(self, bank_id: BankId, run_id: RunId) -> None:
        """Notes that a caller was given the end of the run."""
        ...

    def fail_dead(self, bank_id: BankId, run_id: RunId) -> bool:
        """Ends a run whose time is over but which nobody ended: its execution died.  False when none is."""
        ...

    def steps(self, bank_id: BankId, run_id: RunId) -> list[Step]:
        """Every step of the run, in order of turn, then of place in the turn."""
        ...

    def step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> Step | None:
        """One step, or None."""
        ...

    def record(self, bank_id: BankId, run_id: RunId, steps: Sequence[Step]) -> None:
        """Writes what steps did; one that is written already stays as it is."""
        ...

    def forget_steps(self, bank_id: BankId, run_id: RunId) -> None:
        """Removes the steps of a run that has its answer: they hold memories' texts, which nobody needs twice."""
        ...

    def forget_answers(self, bank_id: BankId) -> None:
        """Removes the answers and steps of the bank's runs that have ended: after a deletion, nothing may quote it."""
        ...

    def holds_memories(self, bank_id: BankId, fact_types: Collection[str]) -> bool:
        """Whether the bank has any memory of these types."""
        ...

    def open(self, bank_id: BankId, ids: Sequence[UnitId], *, whole_document: bool) -> list[Opened]:
        """The facts among these ids with their chunk, or their whole document."""
        ...

    def cited(self, bank_id: BankId, ids: Sequence[UnitId]) -> list[Cited]:
        """The memories among these ids that are still there."""
        ...


class Workflows(Protocol):
    """Starts workflow executions."""

    def start_reflect(self, tenant_id: TenantId, bank_id: UUID, run_id: UUID) -> None:
        """Starts the execution of this run, once: for a run whose execution was started before, nothing happens.

        Raises: WorkDeferred when the service cannot be reached or refuses for now.
        """
        ...
