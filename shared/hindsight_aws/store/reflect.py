"""Reflect runs in Postgres.  Called through ports/reflect.py; calls sql/reflect.sql."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import NewRun, Run, Step
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("reflect")


class PostgresReflectRuns:
    """The runs of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def joinable(self, bank_id: BankId, request_hash: str, within_seconds: float) -> Run | None:
        row = self._session.row(
            _SQL["joinable"], bank_id=bank_id, request_hash=request_hash, within_seconds=within_seconds
        )
        return None if row is None else _run(row)

    def create(self, run: NewRun) -> bool:
        self._session.execute(_SQL["make_room"], bank_id=run.bank_id, request_hash=run.request_hash)
        made = self._session.execute(
            _SQL["create"],
            bank_id=run.bank_id,
            run_id=run.run_id,
            request_hash=run.request_hash,
            subject=run.subject,
            request=Jsonb(run.request),
            deadline_seconds=run.deadline_seconds,
            kind=run.kind,
        )
        return made == 1

    def find(self, bank_id: BankId, run_id: RunId) -> Run | None:
        row = self._session.row(_SQL["find"], bank_id=bank_id, run_id=run_id)
        return None if row is None else _run(row)

    def lock(self, bank_id: BankId, run_id: RunId) -> None:
        self._session.row(_SQL["lock"], bank_id=bank_id, run_id=run_id)

    def begin(self, bank_id: BankId, run_id: RunId, state: JsonObject) -> bool:
        return self._session.execute(_SQL["begin"], bank_id=bank_id, run_id=run_id, state=Jsonb(state)) == 1

    def keep_question(self, bank_id: BankId, run_id: RunId, question: JsonObject) -> None:
        self._session.execute(_SQL["keep_question"], bank_id=bank_id, run_id=run_id, question=Jsonb(question))

    def advance(self, bank_id: BankId, run_id: RunId, turn: int, state: JsonObject, action: JsonObject) -> bool:
        moved = self._session.execute(
            _SQL["advance"], bank_id=bank_id, run_id=run_id, turn=turn, state=Jsonb(state), action=Jsonb(action)
        )
        return moved == 1

    def complete(self, bank_id: BankId, run_id: RunId, answer: JsonObject | None) -> bool:
        body = None if answer is None else Jsonb(answer)
        return self._session.execute(_SQL["complete"], bank_id=bank_id, run_id=run_id, answer=body) == 1

    def fail(self, bank_id: BankId, run_id: RunId, error: str, message: str) -> bool:
        return self._ended(bank_id, run_id, "fail", error=error, message=message)

    def fail_dead(self, bank_id: BankId, run_id: RunId) -> bool:
        return self._ended(bank_id, run_id, "fail_dead")

    def cancel(self, bank_id: BankId, run_id: RunId) -> bool:
        return self._ended(bank_id, run_id, "cancel")

    def _ended(self, bank_id: BankId, run_id: RunId, how: str, **reason: str) -> bool:
        """Whether this ended the run; what it read goes at once if memory was deleted under it."""
        has_ended = self._session.execute(_SQL[how], bank_id=bank_id, run_id=run_id, **reason) == 1
        if has_ended:
            self._session.execute(_SQL["forget_ended"], bank_id=bank_id, run_id=run_id)
        return has_ended

    def purge(self, bank_id: BankId, kept_seconds: float) -> int:
        return self._session.execute(_SQL["purge"], bank_id=bank_id, kept_seconds=kept_seconds)

    def mark_delivered(self, bank_id: BankId, run_id: RunId) -> None:
        self._session.execute(_SQL["mark_delivered"], bank_id=bank_id, run_id=run_id)

    def steps(self, bank_id: BankId, run_id: RunId) -> list[Step]:
        return [_step(row) for row in self._session.rows(_SQL["steps"], bank_id=bank_id, run_id=run_id)]

    def step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> Step | None:
        row = self._session.row(_SQL["step"], bank_id=bank_id, run_id=run_id, turn=turn, step=name)
        return None if row is None else _step(row)

    def record(self, bank_id: BankId, run_id: RunId, steps: Sequence[Step]) -> None:
        for step in steps:
            self._session.execute(
                _SQL["record"],
                bank_id=bank_id,
                run_id=run_id,
                turn=step.turn,
                step=step.name,
                input=Jsonb(step.input),
                output=None if step.output is None else Jsonb(step.output),
                duration_ms=step.duration_ms,
            )

    def begin_call(self, bank_id: BankId, run_id: RunId, call: str) -> None:
        self._session.execute(_SQL["begin_call"], bank_id=bank_id, run_id=run_id, call=call)

    def end_call(self, bank_id: BankId, run_id: RunId, call: str) -> None:
        self._session.execute(_SQL["end_call"], bank_id=bank_id, run_id=run_id, call=call)

    def claim_step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> bool:
        row = self._session.row(_SQL["claim_step"], bank_id=bank_id, run_id=run_id, turn=turn, step=name)
        return row is not None and row["is_claimed"] is True

    def release_step(self, bank_id: BankId, run_id: RunId, turn: int, name: str) -> None:
        self._session.row(_SQL["release_step"], bank_id=bank_id, run_id=run_id, turn=turn, step=name)

    def forget_steps(self, bank_id: BankId, run_id: RunId) -> None:
        self._session.execute(_SQL["forget_steps"], bank_id=bank_id, run_id=run_id)

    def forget_answers(self, bank_id: BankId) -> None:
        self._session.execute(_SQL["forget_answers"], bank_id=bank_id)

    def has_memories(self, bank_id: BankId, fact_types: Collection[str]) -> bool:
        row = self._session.row(_SQL["has_memories"], bank_id=bank_id, fact_types=sorted(fact_types))
        return row is not None and row["there"] is True


def _run(row: Row) -> Run:
    return Run(
        bank_id=BankId(row["bank_id"]),
        run_id=RunId(row["run_id"]),
        subject=row["subject"],
        request=row["request"],
        state=row["state"],
        action=row["action"],
        turn=row["turn"],
        status=row["status"],
        answer=row["answer"],
        error=row["error"],
        error_message=row["error_message"],
        seconds_left=float(row["seconds_left"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        ended_at=row["ended_at"],
        kind=row["kind"],
        is_forgotten=row["is_forgotten"],
        open_calls=frozenset(row["open_calls"]),
        lost_calls=row["lost_calls"],
    )


def _step(row: Row) -> Step:
    return Step(row["turn"], row["step"], row["input"], row["output"], row["duration_ms"])
