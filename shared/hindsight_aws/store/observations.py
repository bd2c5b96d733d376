"""Observations in Postgres: a checked plan written as a whole, their end when a fact goes, and their history.

Made by store/transaction.py; keeps ports/observations.Observations.  Locks in the global order (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.ids import BankId, ScopeId
from hindsight_aws.model.plan import Evidence
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.memories import EvidenceView
from hindsight_aws.ports.observations import Application, ObservationWrite, RevisionView
from hindsight_aws.store.connection import Row
from hindsight_aws.store.consolidation import lock_lease, record_run
from hindsight_aws.store.index import Indexed, PostgresIndex
from hindsight_aws.store.mental_models import PostgresMentalModels
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params
from hindsight_aws.store.vectors import half_vector

_SQL = queries("observations")


class PostgresObservations:
    """Observation rows of the session's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = PostgresIndex(session)

    def apply(self, bank_id: BankId, lease: ScopeLease, application: Application) -> None:
        self._lock_facts(bank_id, application)
        lock_lease(self._session, bank_id, lease)
        lengths = self._lock_observations(bank_id, lease, application.writes)
        self._lock_work(bank_id, application)
        record_run(self._session, bank_id, application.run)
        change = 0
        grown = 0
        for write in application.writes:
            moved: list[UUID] = []
            for ending in write.absorbs:
                terms, facts = self._absorb(bank_id, application, ending, write.observation_id)
                change, grown, moved = change - 1, grown - terms, moved + facts
            change += write.is_new
            grown += self._write(bank_id, lease, application, write, lengths.get(write.observation_id, 0), moved)
        if (change or grown) and lease.rebuilds is None:
            self._index.count(bank_id, {"observation": (change, grown)})
        self._settle_work(bank_id, lease, application)

    def sweep(
        self, bank_id: BankId, fact_ids: Sequence[UUID], scope_ids: Sequence[ScopeId] | None = None
    ) -> list[ScopeId]:
        ids, going = list(fact_ids), set(fact_ids)
        scopes: Sequence[ScopeId | None] = scope_ids or [None] * len(ids)
        leaving = {"bank_id": bank_id, "fact_ids": ids, "scope_ids": scopes}
        resting = self._lock_resting(leaving)
        ending = [row["id"] for row in resting]
        self._session.tuples(_SQL["lock_touched_work"], bank_id=bank_id, fact_ids=ids, observation_ids=ending)
        waiting = self._session.rows(_SQL["requeue_sources"], bank_id=bank_id, observation_ids=ending) if ending else []
        for observation_id in ending:
            self._tombstone(bank_id, observation_id, None, None, {})
            self._session.execute(_SQL["delete_observation"], bank_id=bank_id, id=observation_id)
        counted = [row["terms"] for row in resting if row["fact_type"] == "observation"]
        if counted:
            self._index.count(bank_id, {"observation": (-len(counted), -sum(counted))})
        self._session.execute(_SQL["blank_revisions"], **leaving)
        self._session.execute(_SQL["break_seals"], bank_id=bank_id, fact_ids=ids)
        return [ScopeId(each) for each in dict.fromkeys(w["scope_id"] for w in waiting if w["fact_id"] not in going)]

    def _lock_resting(self, leaving: Mapping[str, object]) -> list[Row]:
        """Locks the observations that rest on facts which leave.

        A merge that commits while we wait for its observations moves their evidence on: looks until all are locked.
        """
        locked: list[Row] = []
        while (found := self._session.rows(_SQL["lock_resting_observations"], **leaving)) != locked:
            locked = found
        return found

    def revisions(self, bank_id: BankId, sight: Sight, observation_id: UUID) -> Sequence[RevisionView]:
        rows = self._session.rows(_SQL["revisions"], bank_id=bank_id, observation_id=observation_id)
        facts = {fact_id for row in rows for fact_id in row["source_ids"]}
        sources: dict[UUID, EvidenceView] = {}
        if facts and sight.sees_beneath:
            found = self._session.rows(
                _SQL["revision_sources"], bank_id=bank_id, ids=sorted(facts), **sight_params(sight)
            )
            sources = {row["id"]: _source(row) for row in found}
        return [_revision(row, sources) for row in rows]

    def _lock_facts(self, bank_id: BankId, application: Application) -> None:
        """Locks the batch's facts, and those whose evidence will move, for moving it comes after the observations."""
        ending = [gone for write in application.writes for gone in write.absorbs]
        moved = self._session.rows(_SQL["evidence_of"], bank_id=bank_id, ids=ending) if ending else []
        ids = list({*application.facts, *(row["fact_id"] for row in moved)})
        self._session.rows(_SQL["lock_fact_documents"], bank_id=bank_id, fact_ids=ids)
        found = self._session.rows(_SQL["lock_facts"], bank_id=bank_id, fact_ids=ids)
        versions = {row["id"]: row["version"] for row in found if row["id"] in application.facts}
        if versions != dict(application.facts):
            raise WorkSuperseded("a fact of the batch changed or went while the model was asked")

    def _lock_observations(
        self, bank_id: BankId, lease: ScopeLease, writes: Sequence[ObservationWrite]
    ) -> dict[UUID, int]:
        wanted = {w.observation_id for w in writes if not w.is_new} | {gone for w in writes for gone in w.absorbs}
        if not wanted:
            return {}
        rows = self._session.rows(_SQL["lock_observations"], bank_id=bank_id, scope_id=lease.scope_id, ids=list(wanted))
        lengths: dict[UUID, int] = {row["id"]: row["terms"] for row in rows}
        if lengths.keys() != wanted:
            raise WorkSuperseded("an observation went while the model was asked")
        return lengths

    def _write(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        application: Application,
        write: ObservationWrite,
        length: int,
        moved: Sequence[UUID],
    ) -> int:
        """Writes one observation, `moved` the facts it inherits; returns by how many terms the scope's index grew."""
        run = application.run
        provenance = Jsonb(run.provenance)
        grown = 0
        if write.text is not None:
            grown = sum(write.terms.values()) - length
            self._session.execute(
                _SQL["insert_observation" if write.is_new else "rewrite_observation"],
                bank_id=bank_id,
                id=write.observation_id,
                text=write.text,
                embedding=None if write.embedding is None else half_vector(write.embedding),
                fact_type=lease.fact_type,
                tags=list(lease.tags),
                scope_id=lease.scope_id,
                length=sum(write.terms.values()),
                provenance=provenance,
            )
            self._reindex(bank_id, lease, write)
        else:
            self._session.execute(
                _SQL["touch_observation"], bank_id=bank_id, id=write.observation_id, provenance=provenance
            )
        self._add_evidence(bank_id, run.run_id, write.observation_id, write.evidence)
        self._session.execute(_SQL["settle_observation"], bank_id=bank_id, id=write.observation_id)
        kind = "create" if write.is_new else "rewrite" if write.text is not None else "evidence"
        added = list(dict.fromkeys([*(piece.fact_id for piece in write.evidence), *moved]))
        self._revise(bank_id, application, write.observation_id, kind, added, None)
        return grown

    def _reindex(self, bank_id: BankId, lease: ScopeLease, write: ObservationWrite) -> None:
        if not write.is_new:
            self._index.drop_terms(bank_id, [write.observation_id])
        tags = lease.tags if write.is_new and lease.rebuilds is None else ()
        self._index.add(bank_id, [Indexed(write.observation_id, lease.fact_type, write.terms, tags)])

    def _add_evidence(self, bank_id: BankId, run_id: UUID, observation_id: UUID, evidence: Sequence[Evidence]) -> None:
        if not evidence:
            return
        self._session.execute(
            _SQL["add_evidence"],
            bank_id=bank_id,
            id=observation_id,
            fact_ids=[piece.fact_id for piece in evidence],
            quotes=[piece.quote for piece in evidence],
            origins=[piece.origin for piece in evidence],
            run_id=run_id,
        )

    def _absorb(self, bank_id: BankId, application: Application, ending: UUID, heir: UUID) -> tuple[int, list[UUID]]:
        """Ends an observation into its heir; returns how many terms it held, and the facts new to the heir."""
        moved = self._session.rows(_SQL["move_evidence"], bank_id=bank_id, id=ending, heir=heir)
        self._tombstone(bank_id, ending, heir, application.run.run_id, application.run.provenance)
        PostgresMentalModels(self._session).move(bank_id, ending, heir)
        row = self._session.row(_SQL["delete_observation"], bank_id=bank_id, id=ending)
        return (int(row["terms"]) if row else 0), [piece["fact_id"] for piece in moved]

    def _tombstone(
        self,
        bank_id: BankId,
        observation_id: UUID,
        heir: UUID | None,
        run_id: UUID | None,
        provenance: Mapping[str, object],
    ) -> None:
        self._session.execute(
            _SQL["record_revision"],
            bank_id=bank_id,
            id=observation_id,
            revision_id=uuid4(),
            kind="merge" if heir else "delete",
            added=[],
            merged_into=heir,
            run_id=run_id,
            provenance=Jsonb(dict(provenance)),
        )

    def _revise(
        self,
        bank_id: BankId,
        application: Application,
        observation_id: UUID,
        kind: str,
        added: list[UUID],
        heir: UUID | None,
    ) -> None:
        self._session.execute(
            _SQL["record_revision"],
            bank_id=bank_id,
            id=observation_id,
            revision_id=uuid4(),
            kind=kind,
            added=added,
            merged_into=heir,
            run_id=application.run.run_id,
            provenance=Jsonb(application.run.provenance),
        )

    def _lock_work(self, bank_id: BankId, application: Application) -> None:
        """Locks the batch's work before what pages rest on, which comes after it and is moved by a merge."""
        work_ids = [*(verdict.work_id for verdict in application.verdicts), *application.overlooked]
        self._session.tuples(_SQL["lock_work"], bank_id=bank_id, work_ids=work_ids)

    def _settle_work(self, bank_id: BankId, lease: ScopeLease, application: Application) -> None:
        verdicts = application.verdicts
        if verdicts:
            self._session.execute(
                _SQL["finish_work"],
                bank_id=bank_id,
                work_ids=[verdict.work_id for verdict in verdicts],
                outcomes=[verdict.outcome for verdict in verdicts],
                run_id=application.run.run_id,
            )
        if application.overlooked:
            self._session.execute(
                _SQL["overlook_work"],
                bank_id=bank_id,
                work_ids=list(application.overlooked),
                looks=application.looks,
                refused_delete=application.refused_delete,
                most_calls=application.most_calls,
            )
        self._session.execute(
            _SQL["remember_policy"],
            bank_id=bank_id,
            scope_id=lease.scope_id,
            policy_hash=application.run.policy_hash,
            brief_hash=application.run.brief_hash,
            has_written=bool(application.writes),
        )


def _revision(row: Row, sources: dict[UUID, EvidenceView]) -> RevisionView:
    ids = tuple(row["source_ids"])
    return RevisionView(
        kind=row["kind"],
        text=row["text"],
        tags=tuple(row["tags"]),
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
        changed_at=row["changed_at"],
        added=tuple(row["added_fact_ids"]),
        source_ids=ids,
        sources={fact_id: sources[fact_id] for fact_id in ids if fact_id in sources},
        merged_into=row["merged_into"],
        provenance=row["provenance"],
    )


def _source(row: Row) -> EvidenceView:
    return EvidenceView(
        fact_id=row["id"],
        fact_type=row["fact_type"],
        text=row["text"],
        context=row["context"],
        occurred_start=row["occurred_start"],
        mentioned_at=row["mentioned_at"],
        quote=row["text"],
        origin="whole",
    )
