"""Leases, pending work and what a scope's model is shown.

Made by store/transaction.py; keeps ports/consolidation.Consolidation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.model.plan import ShownEvidence, ShownObservation
from hindsight_aws.model.webhook import CONSOLIDATION_COMPLETED, WebhookEvent
from hindsight_aws.ports.consolidation import Neighbour, PendingFact, RunRecord, ScopeLease
from hindsight_aws.store.connection import Row
from hindsight_aws.store.consolidation_rows import by_fact, in_turn, pending_of, shown_of
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector
from hindsight_aws.store.webhooks import PostgresWebhooks

_SQL = queries("consolidation")
_NEVER = 2_147_483_647


class PostgresConsolidation:
    """Consolidation rows of the session's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def take_lease(self, bank_id: BankId, scope_id: UUID, seconds: float) -> ScopeLease | None:
        row = self._session.row(_SQL["take_scope_lease"], bank_id=bank_id, scope_id=scope_id, seconds=seconds)
        if row is None or row["woken"]:
            return None
        return ScopeLease(
            row["scope_id"],
            row["fence"],
            tuple(row["tags"]),
            row["policy_hash"],
            row["rebuilds"],
            row["taken_at"],
            row["compacts"],
            row["is_requested"],
        )

    def renew_lease(self, bank_id: BankId, lease: ScopeLease, seconds: float) -> bool:
        touched = self._session.execute(
            _SQL["renew_scope_lease"], bank_id=bank_id, scope_id=lease.scope_id, fence=lease.fence, seconds=seconds
        )
        return touched == 1

    def release_lease(
        self, bank_id: BankId, lease: ScopeLease, *, even_if_woken: bool = False, requested_only: bool = False
    ) -> bool:
        touched = self._session.execute(
            _SQL["release_scope_lease"],
            bank_id=bank_id,
            scope_id=lease.scope_id,
            fence=lease.fence,
            even_if_woken=even_if_woken,
            requested_only=requested_only,
        )
        return touched == 1

    def was_cancelled(self, bank_id: BankId, lease: ScopeLease) -> bool:
        if lease.taken_at is None or lease.rebuilds is not None:
            return False
        row = self._session.row(_SQL["was_cancelled"], bank_id=bank_id, scope_id=lease.scope_id, since=lease.taken_at)
        return bool(row and row["was_cancelled"])

    def withdraw(self, bank_id: BankId, operation_ids: Sequence[OperationId]) -> None:
        if operation_ids:
            self._session.execute(_SQL["withdraw_requests"], bank_id=bank_id, operation_ids=list(operation_ids))

    def refuse_operations(self, bank_id: BankId, scope_id: UUID, error: str) -> None:
        rows = self._session.rows(_SQL["refuse_operations"], bank_id=bank_id, scope_id=scope_id, error=error)
        self._tell(bank_id, rows)
        self.withdraw(bank_id, [OperationId(row["operation_id"]) for row in rows])

    def begin_call(self, bank_id: BankId, work_ids: Sequence[UUID]) -> None:
        self._session.execute(_SQL["begin_call"], bank_id=bank_id, work_ids=list(work_ids))

    def discard_answer(self, bank_id: BankId, work_ids: Sequence[UUID], error: str, *, most_calls: int) -> None:
        self._session.execute(
            _SQL["discard_answer"], bank_id=bank_id, work_ids=list(work_ids), error=error, most_calls=most_calls
        )

    def give_up(self, bank_id: BankId, work_ids: Sequence[UUID], error: str) -> None:
        self._session.execute(_SQL["give_up"], bank_id=bank_id, work_ids=list(work_ids), error=error)

    def pending_facts(
        self, bank_id: BankId, scope_id: UUID, at_most: int, *, requested_only: bool = False
    ) -> list[PendingFact]:
        rows = self._session.rows(
            _SQL["pending_facts"], bank_id=bank_id, scope_id=scope_id, at_most=at_most, requested_only=requested_only
        )
        return [pending_of(row) for row in rows]

    def count_observations(self, bank_id: BankId, scope_id: UUID) -> int:
        row = self._session.row(_SQL["count_observations"], bank_id=bank_id, scope_id=scope_id)
        return int(row["observations"]) if row else 0

    def related(self, bank_id: BankId, scope_id: UUID, fact_ids: Sequence[UUID], per_fact: int) -> list[list[UUID]]:
        held = self.count_observations(bank_id, scope_id)
        if not held:
            return [[] for _ in fact_ids]
        ids = list(fact_ids)
        vectors = self._session.rows(
            _SQL["related_by_vector"], bank_id=bank_id, scope_id=scope_id, fact_ids=ids, per_fact=per_fact
        )
        words = self._session.rows(
            _SQL["related_by_words"],
            bank_id=bank_id,
            scope_id=scope_id,
            fact_ids=ids,
            per_fact=per_fact,
            observations=held,
        )
        by_vector, by_words = by_fact(vectors), by_fact(words)
        return [in_turn(by_vector.get(fact_id, []), by_words.get(fact_id, [])) for fact_id in fact_ids]

    def shown(self, bank_id: BankId, scope_id: UUID, ids: Sequence[UUID]) -> list[ShownObservation]:
        if not ids:
            return []
        found = self._session.rows(_SQL["shown_observations"], bank_id=bank_id, scope_id=scope_id, ids=list(ids))
        sources = self._session.rows(_SQL["shown_evidence"], bank_id=bank_id, scope_id=scope_id, ids=list(ids))
        evidence: dict[UUID, list[ShownEvidence]] = {}
        for row in sources:
            piece = ShownEvidence(row["text"], row["occurred_start"], row["occurred_end"], row["mentioned_at"])
            evidence.setdefault(row["observation_id"], []).append(piece)
        by_id = {row["id"]: shown_of(row, evidence.get(row["id"], [])) for row in found}
        return [by_id[wanted] for wanted in ids if wanted in by_id]

    def neighbours(
        self, bank_id: BankId, scope_id: UUID, vectors: Sequence[Sequence[float]], at_least: float, at_most: int
    ) -> list[list[Neighbour]]:
        found: list[list[Neighbour]] = [[] for _ in vectors]
        if not vectors:
            return found
        rows = self._session.rows(
            _SQL["neighbours"],
            bank_id=bank_id,
            scope_id=scope_id,
            vectors=[half_vector(vector) for vector in vectors],
            at_least=at_least,
            at_most=at_most,
        )
        for row in rows:
            found[row["place"] - 1].append(Neighbour(row["id"], row["text"], row["similarity"]))
        return found

    def record_failure(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        run: RunRecord,
        work_ids: Sequence[UUID],
        error: str,
        *,
        attempts: int,
        is_final: bool,
        most_calls: int,
    ) -> None:
        lock_lease(self._session, bank_id, lease)
        record_run(self._session, bank_id, run)
        self._session.execute(
            _SQL["fail_work"],
            bank_id=bank_id,
            work_ids=list(work_ids),
            error=error,
            run_id=run.run_id,
            attempts=attempts,
            is_final=is_final,
            most_calls=most_calls,
        )

    def defer(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        until: datetime,
        error: str,
        *,
        fails_after: int | None,
        unheard: Sequence[UUID] = (),
    ) -> None:
        lock_lease(self._session, bank_id, lease)
        self._session.execute(
            _SQL["defer_work"],
            bank_id=bank_id,
            scope_id=lease.scope_id,
            until=until,
            error=error,
            unheard=list(unheard),
            fails_after=_NEVER if fails_after is None else fails_after,
        )

    def open_over(self, bank_id: BankId, scope_ids: Sequence[ScopeId] | None) -> OperationId | None:
        over = None if scope_ids is None else Jsonb([str(scope_id) for scope_id in scope_ids])
        row = self._session.row(_SQL["open_operation_over"], bank_id=bank_id, scope_ids=over)
        return OperationId(row["operation_id"]) if row else None

    def request(
        self,
        bank_id: BankId,
        filters: Sequence[Sequence[str]] | None = None,
        *,
        covered_by: OperationId | None = None,
    ) -> list[ScopeId]:
        rows = self._session.rows(
            _SQL["request_work"], bank_id=bank_id, filters=_filters(filters), operation_id=covered_by
        )
        return [ScopeId(row["scope_id"]) for row in rows]

    def recover(
        self,
        bank_id: BankId,
        filters: Sequence[Sequence[str]] | None = None,
        *,
        covered_by: OperationId | None = None,
    ) -> int:
        row = self._session.row(
            _SQL["recover_work"], bank_id=bank_id, filters=_filters(filters), operation_id=covered_by
        )
        return int(row["facts"]) if row else 0

    def revive(self, bank_id: BankId, scope_id: UUID) -> int:
        return self._session.execute(_SQL["revive_work"], bank_id=bank_id, scope_id=scope_id)

    def finish_operations(self, bank_id: BankId) -> bool:
        return self._tell(bank_id, self._session.rows(_SQL["finish_consolidation_operations"], bank_id=bank_id))

    def _tell(self, bank_id: BankId, ended: Sequence[Row]) -> bool:
        """Writes down, on the operations and for webhooks, what consolidation operations came to that have ended."""
        if not ended:
            return False
        ids = [row["operation_id"] for row in ended]
        counts = self._session.rows(_SQL["done_since"], bank_id=bank_id, operation_ids=ids)
        done = [
            {"operation_id": str(row["operation_id"]), "counts": {"memories_processed": row["facts"], **_changes(row)}}
            for row in counts
        ]
        self._session.execute(_SQL["note_done"], bank_id=bank_id, done=Jsonb(done))
        did = {row["operation_id"]: row for row in counts}
        return PostgresWebhooks(self._session).tell(bank_id, [_ended(row, did[row["operation_id"]]) for row in ended])


def _filters(filters: Sequence[Sequence[str]] | None) -> Jsonb | None:
    return None if filters is None else Jsonb([list(tags) for tags in filters])


def _changes(did: Row) -> dict[str, object]:
    return {
        "observations_created": did["created"],
        "observations_updated": did["updated"],
        "observations_deleted": did["deleted"],
    }


def _ended(row: Row, did: Row) -> WebhookEvent:
    data = {**_changes(did), "error_message": row["error_message"]}
    return WebhookEvent(CONSOLIDATION_COMPLETED, row["operation_id"], row["status"], data)


def lock_lease(session: Session, bank_id: BankId, lease: ScopeLease) -> None:
    """Keeps the lease as it is until the transaction ends.  Raises: WorkSuperseded when another has taken it."""
    if session.row(_SQL["lock_scope"], bank_id=bank_id, scope_id=lease.scope_id, fence=lease.fence) is None:
        raise WorkSuperseded("the scope's lease was taken over")


def record_run(session: Session, bank_id: BankId, run: RunRecord) -> None:
    """Keeps one model call's provenance."""
    session.execute(
        _SQL["record_run"],
        bank_id=bank_id,
        run_id=run.run_id,
        scope_id=run.scope_id,
        fence=run.fence,
        policy_hash=run.policy_hash,
        strategy_index=run.strategy_index,
        strategy_name=run.strategy_name,
        prompt=run.prompt,
        model_id=run.model_id,
        status=run.status,
        counts=Jsonb(dict(run.counts)),
        started_at=run.started_at,
    )
