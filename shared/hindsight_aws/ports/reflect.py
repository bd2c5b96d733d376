"""What reflect asks of the database and of the workflow service: run rows, their steps, and who starts them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject

RunStatus = Literal["running", "completed", "failed", "cancelled"]
RunKind = Literal["reflect", "refresh"]


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be written; `request` holds what its steps need, equal requests of a caller share `request_hash`."""

    bank_id: BankId
    run_id: RunId
    request_hash: str
    subject: str
    request: JsonObject
    deadline_seconds: float
    kind: RunKind = "reflect"


@dataclass(frozen=True, slots=True)
class Run:
    """A run's row.  `action` is the last decision; `answer` is there once completed, `error` once failed.

    `is_forgotten`: memory was deleted while it ran.  `open_calls` are the model calls that were begun and of whose end
    nothing was written, `lost_calls` how many of them turned out to have died with their process.
    """

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
    kind: RunKind = "reflect"
    is_forgotten: bool = False
    open_calls: frozenset[str] = frozenset()
    lost_calls: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did; `output` is None while it has not answered."""

    turn: int
    name: str
    input: JsonObject
    output: JsonObject | None
    duration_ms: int | None = None


class ReflectRuns(Protocol):
    """The reflect runs of the transaction's tenant."""

    def joinable(self, bank_id: BankId, request_hash: str, within_seconds: float) -> Run | None:
        """The run that an equal request may share, or None.

        One that is running, or one that ended at most `within_seconds` ago, was delivered to nobody, and since whose
        beginning nothing was written to the bank.
        """
        ...

    def create(self, run: NewRun) -> bool:
        """Writes the run; False when an equal request's run is running already.  One whose time is over makes room."""
        ...

    def find(self, bank_id: BankId, run_id: RunId) -> Run | None:
        """The run, or None."""
        ...

    def lock(self, bank_id: BankId, run_id: RunId) -> None:
        """Locks the run until the transaction ends: a deletion that comes meanwhile forgets what is written here."""
        ...

    def begin(self, bank_id: BankId, run_id: RunId, state: JsonObject) -> bool:
        """Writes the first state of a run that has none yet; False when it has one or has ended."""
        ...

    def keep_question(self, bank_id: BankId, run_id: RunId, question: JsonObject) -> None:
        """Keeps what the question was embedded as, with the first state of a run; one that moved on stays as it is."""
        ...

    def advance(self, bank_id: BankId, run_id: RunId, turn: int, state: JsonObject, action: JsonObject) -> bool:
        """Writes the decision taken at `turn` and moves to the next; False when the run has moved on or ended."""
        ...

    def complete(self, bank_id: BankId, run_id: RunId, answer: JsonObject | None) -> bool:
        """Ends a running run with its answer, None where it may be given to nobody; False when it has ended."""
        ...

    def fail(self, bank_id: BankId, run_id: RunId, error: str, message: str) -> bool:
        """Ends a running run without an answer; False when it has ended.  What a forgotten run read goes at once."""
        ...

    def cancel(self, bank_id: BankId, run_id: RunId) -> bool:
        """Ends a running run because somebody wished so: nothing more is begun.  False when it has ended."""
        ...

    def mark_delivered(self, bank_id: BankId, run_id: RunId) -> None:
        """Notes that a caller was given the end of the run."""
        ...

    def fail_dead(self, bank_id: BankId, run_id: RunId) -> bool:
        """Ends a run whose time is over but which nobody ended: its execution died.  False when none is."""
        ...

    def purge(self, bank_id: BankId, kept_seconds: float) -> int:
        """Removes the bank's runs that ended longer ago, with what they read; the number of them."""
        ...

    def steps(self, bank_id: BankId, run_id: RunId) -> list[Step]:
        """Every step of the run, in order of turn, then of place in the turn."""
        ...

    def step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> Step | None:
        """One step, or None."""
        ...

    def record(self, bank_id: BankId, run_id: RunId, steps: Sequence[Step]) -> None:
        """Writes what steps of a running run did; one that is written stays as it is, a late one is dropped."""
        ...

    def begin_call(self, bank_id: BankId, run_id: RunId, call: str) -> None:
        """Notes that a model call of a running run begins; one that is open already counts as lost."""
        ...

    def end_call(self, bank_id: BankId, run_id: RunId, call: str) -> None:
        """Notes that what became of a model call is written; before `record`, which locks the same row."""
        ...

    def claim_step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> bool:
        """Takes a step for this process alone, past the transaction's end; False while another process has it.

        Ends with `release_step`, or with the process.
        """
        ...

    def release_step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> None:
        """Gives a claimed step back; one that is not claimed stays so."""
        ...

    def forget_steps(self, bank_id: BankId, run_id: RunId) -> None:
        """Removes the steps of a run that has its answer: they hold memories' texts, which nobody needs twice."""
        ...

    def forget_answers(self, bank_id: BankId) -> None:
        """Sees to it that no run quotes what was deleted: for every write that takes something out of the bank.

        Runs that have ended lose answer and steps at once.  One that goes on is forgotten: no equal request joins it,
        and what it read goes at its end.
        """
        ...

    def has_memories(self, bank_id: BankId, fact_types: Collection[str]) -> bool:
        """Whether the bank has any memory of these types."""
        ...


class Workflows(Protocol):
    """Starts workflow executions."""

    def start_reflect(self, tenant_id: TenantId, bank_id: UUID, run_id: UUID) -> None:
        """Starts the execution of this run, once: for a run whose execution was started before, nothing happens.

        Raises: WorkDeferred when the service cannot be reached or refuses for now.
        """
        ...
