"""Reflect runs and what their tools look up, in Postgres.  Called through ports/reflect.py; calls sql/reflect.sql."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, RunId, UnitId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import Cited, NewRun, Opened, Run, Step
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("reflect")
_KEPT_SECONDS = 24 * 3600.0


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
        self._session.execute(_SQL["purge"], bank_id=run.bank_id, kept_seconds=_KEPT_SECONDS)
        self._session.execute(_SQL["make_room"], bank_id=run.bank_id, request_hash=run.request_hash)
        made = self._session.execute(
            _SQL["create"],
            bank_id=run.bank_id,
            run_id=run.run_id,
            request_hash=run.request_hash,
            subject=run.subject,
            request=Jsonb(run.request),
            deadline_seconds=run.deadline_seconds,
        )
        return made == 1

    def find(self, bank_id: BankId, run_id: RunId) -> Run | None:
        row = self._session.row(_SQL["find"], bank_id=bank_id, run_id=run_id)
        return None if row is None else _run(row)

    def begin(self, bank_id: BankId, run_id: RunId, state: JsonObject) -> bool:
        return self._session.execute(_SQL["begin"], bank_id=bank_id, run_id=run_id, state=Jsonb(state)) == 1

    def advance(self, bank_id: BankId, run_id: RunId, turn: int, state: JsonObject, action: JsonObject) -> bool:
        moved = self._session.execute(
            _SQL["advance"], bank_id=bank_id, run_id=run_id, turn=turn, state=Jsonb(state), action=Jsonb(action)
        )
        return moved == 1

    def complete(self, bank_id: BankId, run_id: RunId, answer: JsonObject) -> bool:
        return self._session.execute(_SQL["complete"], bank_id=bank_id, run_id=run_id, answer=Jsonb(answer)) == 1

    def fail(self, bank_id: BankId, run_id: RunId, error: str, message: str) -> bool:
        return self._session.execute(_SQL["fail"], bank_id=bank_id, run_id=run_id, error=error, message=message) == 1

    def fail_dead(self, bank_id: BankId, run_id: RunId) -> bool:
        return self._session.execute(_SQL["fail_dead"], bank_id=bank_id, run_id=run_id) == 1

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

    def forget_steps(self, bank_id: BankId, run_id: RunId) -> None:
        self._session.execute(_SQL["forget_steps"], bank_id=bank_id, run_id=run_id)

    def forget_answers(self, bank_id: BankId) -> None:
        self._session.execute(_SQL["forget_answers"], bank_id=bank_id)

    def holds_memories(self, bank_id: BankId, fact_types: Collection[str]) -> bool:
        row = self._session.row(_SQL["holds_memories"], bank_id=bank_id, fact_types=sorted(fact_types))
        return row is not None and row["holds"] is True

    def open(self, bank_id: BankId, ids: Sequence[UnitId], *, whole_document: bool) -> list[Opened]:
        rows = self._session.rows(_SQL["open"], bank_id=bank_id, ids=list(ids), whole_document=whole_document)
        return [
            Opened(
                id=UnitId(row["id"]),
                text=row["text"],
                fact_type=row["fact_type"],
                context=row["context"],
                tags=tuple(row["tags"]),
                document_id=row["document_id"],
                document_tags=tuple(row["document_tags"]),
                chunk=row["chunk"],
                document=row["document"],
            )
            for row in rows
        ]

    def cited(self, bank_id: BankId, ids: Sequence[UnitId]) -> list[Cited]:
        return [
            Cited(
                id=UnitId(row["id"]),
                text=row["text"],
                fact_type=row["fact_type"],
                context=row["context"],
                occurred_start=row["occurred_start"],
                occurred_end=row["occurred_end"],
                mentioned_at=row["mentioned_at"],
                document_id=row["document_id"],
                chunk_index=row["chunk_index"],
                tags=tuple(row["tags"]),
                metadata=row["metadata"],
            )
            for row in self._session.rows(_SQL["cited"], bank_id=bank_id, ids=list(ids))
        ]


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
    )


def _step(row: Row) -> Step:
    return Step(row["turn"], row["step"], row["input"], row["output"], row["duration_ms"])
