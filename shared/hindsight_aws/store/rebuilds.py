"""Rebuilds in Postgres.  Called through ports/rebuilds.py; calls sql/rebuilds.sql.

Locks in the global order (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.rebuilds import CallCost, Ending, Opening, Shadow, Standing, WrittenScope
from hindsight_aws.store.connection import Row
from hindsight_aws.store.index import PostgresIndex
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("rebuilds")


class PostgresRebuilds:
    """The rebuilds of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = PostgresIndex(session)

    def standing(self, bank_id: BankId, scope_id: UUID) -> Standing | None:
        row = self._session.row(_SQL["standing"], bank_id=bank_id, scope_id=scope_id)
        return None if row is None else Standing(**row)

    def shadow(self, bank_id: BankId, shadow_id: UUID) -> Shadow | None:
        row = self._session.row(_SQL["shadow"], bank_id=bank_id, shadow_id=shadow_id)
        return None if row is None else Shadow(**row)

    def scopes(self, bank_id: BankId, after: UUID | None, at_most: int) -> list[WrittenScope]:
        rows = self._session.rows(_SQL["scopes"], bank_id=bank_id, after=after, at_most=at_most)
        return [WrittenScope(**{**row, "tags": tuple(row["tags"])}) for row in rows]

    def keep_facts(self, bank_id: BankId, scope_ids: Sequence[ScopeId]) -> None:
        self._session.tuples(_SQL["keep_facts"], bank_id=bank_id, scope_ids=list(scope_ids))

    def keep_new_facts(self, bank_id: BankId, shadow_id: UUID) -> None:
        self._session.tuples(_SQL["keep_new_facts"], bank_id=bank_id, shadow_id=shadow_id)

    def lock(self, bank_id: BankId, shadow_id: UUID) -> None:
        self._session.rows(_SQL["lock_generations"], bank_id=bank_id, shadow_ids=[shadow_id])

    def open(
        self, bank_id: BankId, openings: Sequence[Opening], operation_id: OperationId, *, is_forced: bool
    ) -> dict[ScopeId, ScopeId]:
        scope_ids = [opening.scope_id for opening in openings]
        self.keep_facts(bank_id, scope_ids)
        made = self._session.tuples(
            _SQL["make_shadows"],
            bank_id=bank_id,
            shadow_ids=[uuid4() for _ in openings],
            scope_ids=scope_ids,
            brief_hashes=[opening.brief_hash for opening in openings],
            operation_id=operation_id,
            is_forced=is_forced,
        )
        shadows = {ScopeId(scope_id): ScopeId(shadow_id) for shadow_id, scope_id in made}
        if shadows:
            self._session.execute(_SQL["account_for_evidence"], bank_id=bank_id, scope_ids=list(shadows))
            self._session.execute(_SQL["adopt_work"], bank_id=bank_id, shadow_ids=list(shadows.values()))
        if is_forced:
            self._session.execute(_SQL["ask_for_shadows"], bank_id=bank_id, scope_ids=scope_ids)
            self._session.execute(_SQL["ask_for_work"], bank_id=bank_id, scope_ids=scope_ids)
        return shadows

    def adopt(self, bank_id: BankId, shadow_id: UUID) -> int:
        new = self._session.execute(_SQL["adopt_work"], bank_id=bank_id, shadow_ids=[shadow_id])
        return new + self._session.execute(_SQL["follow_scope"], bank_id=bank_id, shadow_id=shadow_id)

    def restart(self, bank_id: BankId, shadow_id: UUID, brief_hash: str) -> None:
        self._hold(bank_id, [shadow_id], [shadow_id])
        self._session.execute(_SQL["adopt_work"], bank_id=bank_id, shadow_ids=[shadow_id])
        self._session.execute(_SQL["follow_scope"], bank_id=bank_id, shadow_id=shadow_id)
        self._session.execute(_SQL["forget_revisions"], bank_id=bank_id, scope_id=shadow_id)
        self._session.row(_SQL["end_generation"], bank_id=bank_id, scope_id=shadow_id)
        self._session.execute(_SQL["retarget"], bank_id=bank_id, shadow_id=shadow_id, brief_hash=brief_hash)
        self._session.execute(_SQL["reopen_shadow"], bank_id=bank_id, shadow_id=shadow_id)

    def drop(self, bank_id: BankId, shadow_id: UUID, ending: Ending, *, brief_hash: str | None) -> None:
        self._hold(bank_id, [shadow_id], [shadow_id])
        self._drop(bank_id, shadow_id, ending, brief_hash=brief_hash)

    def _drop(self, bank_id: BankId, shadow_id: UUID, ending: Ending, *, brief_hash: str | None) -> None:
        """Ends a shadow that is locked."""
        self._session.execute(_SQL["forget_revisions"], bank_id=bank_id, scope_id=shadow_id)
        row = self._session.row(_SQL["end_shadow"], bank_id=bank_id, shadow_id=shadow_id)
        if row is None:
            return
        if brief_hash is None:
            self._session.execute(_SQL["put_off"], bank_id=bank_id, scope_id=row["rebuilds"])
        else:
            self._session.execute(_SQL["let_stand"], bank_id=bank_id, scope_id=row["rebuilds"], brief_hash=brief_hash)
        self._note_ending(bank_id, row["operation_id"], ending)
        if brief_hash is None:
            self._session.execute(_SQL["look_again"], bank_id=bank_id)

    def drop_all(self, bank_id: BankId, scope_id: ScopeId | None = None) -> None:
        shadows = self._session.rows(_SQL["shadows"], bank_id=bank_id, scope_id=scope_id)
        ids = [shadow["scope_id"] for shadow in shadows]
        self._hold(bank_id, ids, ids)
        for shadow in shadows:
            self._drop(bank_id, shadow["scope_id"], Ending(), brief_hash=shadow["brief_hash"])
        if shadows:
            self.finish(bank_id)

    def swap(self, bank_id: BankId, lease: ScopeLease, policy_hash: str, sealed_days: int) -> bool:
        shadow_id = lease.scope_id
        self._session.rows(_SQL["lock_rebuilt_documents"], bank_id=bank_id, shadow_id=shadow_id)
        self._session.rows(_SQL["lock_rebuilt_facts"], bank_id=bank_id, shadow_id=shadow_id)
        self.keep_new_facts(bank_id, shadow_id)
        fences = self._hold(bank_id, [shadow_id], [shadow_id, lease.rebuilds])
        if fences.get(shadow_id) != lease.fence:
            raise WorkSuperseded("the shadow's lease was taken over")
        self._session.execute(_SQL["adopt_work"], bank_id=bank_id, shadow_ids=[shadow_id])
        self._session.execute(_SQL["follow_scope"], bank_id=bank_id, shadow_id=shadow_id)
        found = self._session.row(_SQL["open_facts"], bank_id=bank_id, shadow_id=shadow_id)
        shadow = self.shadow(bank_id, shadow_id)
        if shadow is None or found is None or found["facts"]:
            return False
        self._put_in_place(bank_id, shadow_id, shadow, policy_hash, sealed_days)
        return True

    def note_progress(self, bank_id: BankId, shadow_id: UUID) -> None:
        self._session.execute(_SQL["note_progress"], bank_id=bank_id, shadow_id=shadow_id)

    def finish(self, bank_id: BankId) -> None:
        self._session.execute(_SQL["finish"], bank_id=bank_id)

    def accept(self, bank_id: BankId, policies: Mapping[ScopeId, Policy], with_room: Sequence[ScopeId]) -> int:
        if policies:
            self._session.execute(
                _SQL["accept"],
                bank_id=bank_id,
                scope_ids=list(policies),
                policy_hashes=[policy.hash for policy in policies.values()],
                brief_hashes=[policy.brief_hash for policy in policies.values()],
            )
        if not with_room:
            return 0
        return self._session.execute(_SQL["reopen_capped"], bank_id=bank_id, scope_ids=list(with_room))

    def policy_digest(self, bank_id: BankId, server_policy: str) -> str | None:
        row = self._session.row(_SQL["policy_digest"], bank_id=bank_id, server_policy=server_policy)
        return None if row is None else str(row["digest"])

    def saw_policy(self, bank_id: BankId, digest: str) -> None:
        self._session.execute(_SQL["saw_policy"], bank_id=bank_id, digest=digest)

    def call_cost(self, bank_id: BankId) -> CallCost:
        row = self._session.row(_SQL["call_cost"], bank_id=bank_id)
        return CallCost() if row is None else CallCost(**row)

    def delete_seals(self, bank_id: BankId) -> int:
        return self._session.execute(_SQL["delete_seals"], bank_id=bank_id)

    def _put_in_place(
        self, bank_id: BankId, shadow_id: UUID, shadow: Shadow, policy_hash: str, sealed_days: int
    ) -> None:
        both = {"bank_id": bank_id, "scope_id": shadow.rebuilds, "shadow_id": shadow_id}
        of_scope = {"bank_id": bank_id, "scope_id": shadow.rebuilds}
        if sealed_days:
            self._session.execute(_SQL["seal"], **of_scope, generation_id=uuid4(), days=sealed_days)
        self._session.execute(_SQL["forget_revisions"], **of_scope)
        self._session.execute(_SQL["seal_runs"], **of_scope)
        former = self._one(self._session.row(_SQL["end_generation"], **of_scope))
        self._session.execute(_SQL["tag_shadow"], bank_id=bank_id, shadow_id=shadow_id)
        self._session.execute(_SQL["show_terms"], bank_id=bank_id, shadow_id=shadow_id)
        present = self._one(self._session.row(_SQL["show_shadow"], **both))
        self._session.execute(_SQL["show_revisions"], **both)
        self._session.execute(_SQL["show_runs"], **both)
        self._session.execute(_SQL["settle_scope"], **both)
        self._session.execute(_SQL["take_place"], **of_scope, brief_hash=shadow.brief_hash, policy_hash=policy_hash)
        ended = self._one(self._session.row(_SQL["end_shadow"], bank_id=bank_id, shadow_id=shadow_id))
        change = (present["units"] - former["units"], present["terms"] - former["terms"])
        if any(change):
            self._index.count(bank_id, {"observation": change})
        counts = {
            "scopes_rebuilt": 1,
            "memories_processed": shadow.done,
            "memories_failed": shadow.failed,
            "observations_removed": former["units"],
            "observations_created": present["units"],
        }
        error = f"{shadow.failed} facts could not be consolidated" if shadow.failed else None
        self._note_ending(bank_id, ended["operation_id"], Ending(counts, error))

    def _hold(self, bank_id: BankId, shadow_ids: Sequence[UUID], emptied: Sequence[UUID | None]) -> dict[UUID, int]:
        """Keeps shadows and their scopes from change, then all that those of them hold that are to be emptied.

        Returns the fences of the locked scopes.
        """
        if not shadow_ids:
            return {}
        locked = self._session.rows(_SQL["lock_generations"], bank_id=bank_id, shadow_ids=list(shadow_ids))
        for held in ("lock_observations_of_scopes", "lock_work_of_scopes"):
            self._session.tuples(_SQL[held], bank_id=bank_id, scope_ids=list(emptied))
        return {row["scope_id"]: row["fence"] for row in locked}

    def _note_ending(self, bank_id: BankId, operation_id: UUID | None, ending: Ending) -> None:
        if operation_id is not None:
            self._session.execute(
                _SQL["note_ending"],
                bank_id=bank_id,
                operation_id=operation_id,
                counts=Jsonb(dict(ending.counts)),
                error=ending.error,
            )

    @staticmethod
    def _one(row: Row | None) -> Row:
        if row is None:
            raise AssertionError("a statement that always answers one row answered none")
        return row
