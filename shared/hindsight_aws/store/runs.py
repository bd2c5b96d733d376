"""Consolidation runs in Postgres, to look at and to undo.  Called through ports/runs.py; calls sql/runs.sql.

Writes observations by the statements of sql/observations.sql; locks in the global order (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.model.plan import Evidence
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.runs import Former, Restored, RunQuery, RunView, Touched, Trace
from hindsight_aws.store.connection import Row
from hindsight_aws.store.consolidation import lock_lease
from hindsight_aws.store.index import Indexed, PostgresIndex
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params
from hindsight_aws.store.vectors import half_vector

_SQL = queries("runs")
_WRITE = queries("observations")


class PostgresRuns:
    """The consolidation runs of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = PostgresIndex(session)

    def page(self, bank_id: BankId, sight: Sight, query: RunQuery) -> Page[RunView]:
        if "observation" not in sight.fact_types:
            return Page((), 0)
        seen = sight_params(sight)
        del seen["fact_types"]
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            status=query.status,
            scope_tags=None if query.tags is None else list(query.tags),
            limit=query.limit,
            offset=query.offset,
            **seen,
        )
        return Page([_view(row) for row in rows if row["run_id"] is not None], rows[0]["total"])

    def trace(self, bank_id: BankId, run_id: RunId) -> Trace | None:
        row = self._session.row(_SQL["run"], bank_id=bank_id, run_id=run_id)
        if row is None:
            return None
        touched = tuple(_touched(t) for t in self._session.rows(_SQL["touched"], bank_id=bank_id, run_id=run_id))
        twins = self._session.rows(
            _SQL["twins"],
            bank_id=bank_id,
            scope_id=row["scope_id"],
            touched=[one.observation_id for one in touched],
            texts=[" ".join(one.former.text.split()) for one in touched if one.former is not None],
        )
        return Trace(**row, touched=touched, twins=tuple(RunId(UUID(twin["run_id"])) for twin in twins))

    def undo(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        run_id: RunId,
        expected: Trace,
        restored: Sequence[Restored],
        *,
        retry: bool,
    ) -> int:
        touched = [one.observation_id for one in expected.touched]
        self._lock(bank_id, lease, touched, restored)
        if self.trace(bank_id, run_id) != expected:
            raise WorkSuperseded("what the run left changed meanwhile")
        undoing = {"reverts": str(run_id)}
        back = {one.observation_id for one in restored}
        units = terms = 0
        for one in expected.touched:
            if one.is_there and one.observation_id not in back:
                self._revise(bank_id, one.observation_id, "delete", undoing)
                row = self._session.row(_WRITE["delete_observation"], bank_id=bank_id, id=one.observation_id)
                units, terms = units - 1, terms - (int(row["terms"]) if row else 0)
        lengths = self._lengths(bank_id, lease, touched)
        for put in restored:
            self._put_back(bank_id, lease, put, {**put.former.last_by, **undoing})
            units += not put.is_there
            terms += sum(put.terms.values()) - lengths.get(put.observation_id, 0)
        if units or terms:
            self._index.count(bank_id, {"observation": (units, terms)})
        reopened = self._session.execute(_SQL["reopen_work"], bank_id=bank_id, run_id=run_id, retry=retry)
        self._session.execute(_SQL["mark_reverted"], bank_id=bank_id, run_id=run_id)
        return reopened

    def _lock(self, bank_id: BankId, lease: ScopeLease, touched: Sequence[UUID], restored: Sequence[Restored]) -> None:
        """Keeps what is read and written from change: documents, facts, the scope, observations, each in id order."""
        now = self._session.rows(_SQL["evidence_facts"], bank_id=bank_id, ids=list(touched))
        then = {piece.fact_id for one in restored for piece in one.former.evidence}
        ids = list({*then, *(row["fact_id"] for row in now)})
        self._session.rows(_WRITE["lock_fact_documents"], bank_id=bank_id, fact_ids=ids)
        found = self._session.rows(_WRITE["lock_facts"], bank_id=bank_id, fact_ids=ids)
        if not then <= {row["id"] for row in found}:
            raise WorkSuperseded("a fact that is to be rested on went meanwhile")
        lock_lease(self._session, bank_id, lease)
        self._lengths(bank_id, lease, touched)

    def _lengths(self, bank_id: BankId, lease: ScopeLease, ids: Sequence[UUID]) -> dict[UUID, int]:
        """Locks those of these observations that are there; how many terms each holds."""
        rows = self._session.rows(_WRITE["lock_observations"], bank_id=bank_id, scope_id=lease.scope_id, ids=list(ids))
        return {row["id"]: int(row["terms"]) for row in rows}

    def _put_back(self, bank_id: BankId, lease: ScopeLease, one: Restored, provenance: Mapping[str, object]) -> None:
        at = {"bank_id": bank_id, "id": one.observation_id}
        written = {
            "text": one.former.text,
            "embedding": None if one.embedding is None else half_vector(one.embedding),
            "length": sum(one.terms.values()),
        }
        if one.is_there:
            self._session.execute(
                _WRITE["rewrite_observation"], **at, **written, provenance=Jsonb(dict(one.former.last_by))
            )
            self._session.execute(_SQL["take_evidence"], **at)
            self._index.drop_terms(bank_id, [one.observation_id])
        else:
            self._session.execute(
                _SQL["put_back"],
                **at,
                **written,
                tags=list(lease.tags),
                scope_id=lease.scope_id,
                created_by=Jsonb(dict(one.former.created_by)),
                last_by=Jsonb(dict(one.former.last_by)),
                created_at=one.former.created_at,
            )
        tags = () if one.is_there else lease.tags
        self._index.add(bank_id, [Indexed(one.observation_id, "observation", one.terms, tags)])
        evidence = one.former.evidence
        self._session.execute(
            _WRITE["add_evidence"],
            **at,
            fact_ids=[piece.fact_id for piece in evidence],
            quotes=[piece.quote for piece in evidence],
            origins=[piece.origin for piece in evidence],
            run_id=one.former.last_by.get("run_id"),
        )
        self._session.execute(_WRITE["settle_observation"], **at)
        self._revise(bank_id, one.observation_id, "revert", provenance)

    def _revise(self, bank_id: BankId, observation_id: UUID, kind: str, provenance: Mapping[str, object]) -> None:
        self._session.execute(
            _WRITE["record_revision"],
            bank_id=bank_id,
            id=observation_id,
            revision_id=uuid4(),
            kind=kind,
            added=[],
            merged_into=None,
            run_id=None,
            provenance=Jsonb(dict(provenance)),
        )


def _view(row: Row) -> RunView:
    return RunView(**{name: value for name, value in row.items() if name != "total"} | {"tags": tuple(row["tags"])})


def _touched(row: Row) -> Touched:
    former = None
    if row["was_there"]:
        pieces = row["evidence"] if not row["is_blanked"] else []
        former = Former(
            text=row["text"] or "",
            evidence=tuple(Evidence(UUID(p["fact_id"]), p["quote"], p["origin"]) for p in pieces),
            created_by=row["created_by"],
            last_by=row["last_by"],
            created_at=row["created_at"],
        )
    return Touched(
        observation_id=row["observation_id"],
        former=former,
        is_there=row["is_there"],
        is_blanked=row["is_blanked"],
        version=row["version"],
        later_runs=tuple(dict.fromkeys(RunId(run_id) for run_id in row["later_runs"])),
        is_changed_otherwise=row["is_changed_otherwise"],
    )
