"""Near-duplicates of scopes in Postgres.  Called through ports/compaction.py; calls sql/compaction.sql."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.compaction import Likeness, NearPair, Suggestion
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.consolidation import lock_lease
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("compaction")


class PostgresCompactions:
    """The near-duplicates of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open(self, bank_id: BankId, scope_id: UUID) -> bool:
        asked = {"bank_id": bank_id, "scope_id": scope_id}
        self._session.execute(_SQL["open_window"], **asked)
        return self._session.row(_SQL["open_window_of"], **asked) is not None

    def begin_questions(self, bank_id: BankId, scope_id: UUID) -> int:
        row = self._session.row(_SQL["begin_questions"], bank_id=bank_id, scope_id=scope_id)
        return int(row["tries"]) if row else 0

    def put_off(self, bank_id: BankId, scope_id: UUID) -> None:
        self._session.execute(_SQL["put_off"], bank_id=bank_id, scope_id=scope_id)

    def pairs(self, bank_id: BankId, scope_id: UUID, at_least: float, at_most: int) -> list[NearPair]:
        rows = self._session.rows(_SQL["pairs"], bank_id=bank_id, scope_id=scope_id, at_least=at_least, at_most=at_most)
        return [_pair(row) for row in rows]

    def keep_apart(self, bank_id: BankId, scope_id: UUID, pairs: Sequence[NearPair]) -> None:
        self._note(bank_id, scope_id, pairs, is_kept_apart=True)

    def close(
        self, bank_id: BankId, lease: ScopeLease, pairs: Sequence[NearPair], merged: int, *, is_whole: bool
    ) -> None:
        lock_lease(self._session, bank_id, lease)
        asked = {"bank_id": bank_id, "scope_id": lease.scope_id}
        self._session.execute(_SQL["forget_pairs"], **asked)
        self._note(bank_id, lease.scope_id, [pair for pair in pairs if not pair.is_kept_apart], is_kept_apart=False)
        self._session.execute(_SQL["close_window"], **asked, pairs=len(pairs), merged=merged)
        self._session.execute(_SQL["measured" if is_whole else "put_off"], **asked)

    def page(self, bank_id: BankId, sight: Sight, limit: int, offset: int) -> Page[Suggestion]:
        seen = sight_params(sight)
        rows = self._session.rows(_SQL["page"], bank_id=bank_id, limit=limit, offset=offset, **seen)
        found = [Suggestion(tuple(row["tags"]), _pair(row), row["found_at"]) for row in rows if row["first_id"]]
        return Page(found, rows[0]["total"])

    def _note(self, bank_id: BankId, scope_id: UUID, pairs: Sequence[NearPair], *, is_kept_apart: bool) -> None:
        if pairs:
            found = [
                {
                    "a": str(pair.first.observation_id),
                    "b": str(pair.second.observation_id),
                    "similarity": pair.similarity,
                }
                for pair in pairs
            ]
            self._session.execute(
                _SQL["note_pairs"], bank_id=bank_id, scope_id=scope_id, pairs=Jsonb(found), is_kept_apart=is_kept_apart
            )


def _pair(row: Row) -> NearPair:
    return NearPair(
        Likeness(row["first_id"], row["first_text"], row["first_proofs"]),
        Likeness(row["second_id"], row["second_text"], row["second_proofs"]),
        row["similarity"],
        row["is_kept_apart"],
    )
