"""Erasures in Postgres: their rows, banks that go whole, and the count of what went.

Called through ports/erasure.py; calls sql/erasures.sql, and tag_erasure.py for what carries tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.erasure import Erasure, ErasureId, NewErasure, Signature
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.erasure import BankGone, Part, PartGone
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.patterns import glob_regex
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.tag_erasure import Gone, TagErasure
from hindsight_aws.store.whole_bank import count_contents, delete_whole, hidden_name, lock_whole, take_time

_SQL = queries("erasures")
_SLICES: Final = ("slice_of_memories", "slice_of_documents", "slice_of_revisions", "slice_of_entities")


class PostgresErasures:
    """The erasures of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin_bank(self, new: NewErasure, at_once: int) -> BankGone | None:
        asked = {"bank_id": new.bank_id}
        if not lock_whole(self._session, new.bank_id) or self.tombstone(new.bank_id) is not None:
            return None
        self._begin(new)
        take_time(self._session)
        contents = count_contents(self._session, new.bank_id)
        waiting = self._session.row(_SQL["waiting_of_bank"], **asked) or {}
        objects = [row[0] for row in self._session.tuples(_SQL["objects_of_bank"], **asked)]
        memories = self._session.tuples(_SQL["memories_of_bank"], **asked)[0][0]
        with self._counting(new.erasure_id) as gone:
            gone.queues.update(waiting)
            gone.object_keys.extend(objects)
            if memories <= at_once:
                delete_whole(self._session, new.bank_id)
            else:
                self._session.execute(_SQL["set_aside"], **asked, external_id=hidden_name(new.bank_id))
                for name in ("drop_aliases", "drop_operations"):
                    self._session.execute(_SQL[name], **asked)
        return BankGone(contents, memories <= at_once)

    def begin_tags(self, new: NewErasure) -> None:
        # Waits for whoever is writing to the bank: what was accepted before is there to be found.
        lock_whole(self._session, new.bank_id)
        self._begin(new)

    def find(self, erasure_id: ErasureId) -> Erasure | None:
        row = self._session.row(_SQL["find"], erasure_id=erasure_id)
        return None if row is None else _erasure(row)

    def page(self, patterns: Sequence[str] | None, limit: int, offset: int) -> Page[Erasure]:
        covered = None if patterns is None else glob_regex(patterns)
        rows = self._session.rows(_SQL["page"], covered=covered, limit=limit, offset=offset)
        return Page([_erasure(row) for row in rows if row["erasure_id"] is not None], rows[0]["total"])

    def tombstone(self, bank_id: BankId) -> ErasureId | None:
        row = self._session.row(_SQL["tombstone"], bank_id=bank_id)
        return None if row is None else ErasureId(row["erasure_id"])

    def take_lease(self, erasure_id: ErasureId, seconds: float) -> int | None:
        row = self._session.row(_SQL["take_lease"], erasure_id=erasure_id, seconds=seconds)
        return None if row is None else int(row["fence"])

    def lock(self, erasure_id: ErasureId, fence: int) -> None:
        if self._session.row(_SQL["lock"], erasure_id=erasure_id, fence=fence) is None:
            raise WorkSuperseded("another worker has taken the erasure over")

    def give_back(self, erasure_id: ErasureId, fence: int, seconds: float) -> None:
        self._session.execute(_SQL["give_back"], erasure_id=erasure_id, fence=fence, seconds=seconds)

    def erase_slice(self, erasure: Erasure, at_most: int) -> bool:
        asked = {"bank_id": erasure.bank_id, "at_most": at_most}
        take_time(self._session)
        with self._counting(erasure.erasure_id):
            for name in _SLICES:
                if self._session.execute(_SQL[name], **asked):
                    return True
            if lock_whole(self._session, erasure.bank_id):
                delete_whole(self._session, erasure.bank_id)
        return False

    def targets(self, erasure: Erasure, part: Part, at_most: int) -> list[UUID]:
        return TagErasure(self._session, erasure).targets(part, at_most)

    def erase(self, erasure: Erasure, part: Part, ids: Sequence[UUID]) -> PartGone:
        with self._counting(erasure.erasure_id) as gone:
            TagErasure(self._session, erasure).erase(part, ids, gone)
        return PartGone(tuple(dict.fromkeys(gone.scopes)), tuple(dict.fromkeys(gone.operations)))

    def is_waited_for(self, erasure: Erasure) -> bool:
        return TagErasure(self._session, erasure).is_waited_for()

    def rows_gone(self, erasure_id: ErasureId, ticket_seconds: float) -> None:
        self._session.execute(_SQL["rows_gone"], erasure_id=erasure_id, ticket_seconds=ticket_seconds)

    def objects_gone(self, erasure_id: ErasureId, keys: Sequence[str]) -> None:
        self._session.execute(_SQL["objects_gone"], erasure_id=erasure_id, keys=list(keys))

    def settle(self, erasure_id: ErasureId, digest: str) -> None:
        self._session.execute(_SQL["settle"], erasure_id=erasure_id, digest=digest)

    def sign(self, erasure_id: ErasureId, digest: str, signature: Signature) -> None:
        self._session.execute(
            _SQL["sign"],
            erasure_id=erasure_id,
            digest=digest,
            key_id=signature.key_id,
            algorithm=signature.algorithm,
            signature=signature.value,
        )

    def _begin(self, new: NewErasure) -> None:
        self._session.execute(
            _SQL["begin"],
            erasure_id=new.erasure_id,
            bank_id=new.bank_id,
            bank=new.bank,
            kind=new.kind,
            tags=list(new.tags),
            match=new.match,
            subject=new.subject,
        )

    @contextmanager
    def _counting(self, erasure_id: ErasureId) -> Iterator[Gone]:
        """Adds what goes inside to the erasure: the server's own count of rows, those of cascades among them."""
        before, gone = self._tally(), Gone()
        yield gone
        gone.erased.update(Counter(self._tally()) - Counter(before))
        self._session.execute(
            _SQL["note"],
            erasure_id=erasure_id,
            erased=Jsonb(_some(gone.erased)),
            blanked=Jsonb(_some(gone.blanked)),
            queues=Jsonb(_some(gone.queues)),
            object_keys=gone.object_keys,
        )

    def _tally(self) -> dict[str, int]:
        return dict(self._session.tuples(_SQL["tally"]))


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: rows for name, rows in counts.items() if rows}


def _erasure(row: Row) -> Erasure:
    signature = None
    if row["signature"] is not None:
        signature = Signature(row["key_id"], row["algorithm"], row["signature"])
    return Erasure(
        erasure_id=ErasureId(row["erasure_id"]),
        bank_id=BankId(row["bank_id"]),
        bank=row["bank"],
        kind=row["kind"],
        subject=row["subject"],
        tags=tuple(row["tags"]),
        match=row["match"],
        state=row["state"],
        erased=row["erased"],
        blanked=row["blanked"],
        queues=row["queues"],
        object_keys=tuple(row["object_keys"]),
        objects=row["objects"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        digest=row["digest"],
        signature=signature,
        signed_at=row["signed_at"],
    )
