"""What carries tags, and what rests on that, taken out part by part.  Called by store/erasure.py.

Each call is one transaction's; it locks in the global order (docs/architecture.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.erasure import Erasure
from hindsight_aws.model.ids import DocumentId, OperationId, ScopeId, UnitId
from hindsight_aws.ports.erasure import Part
from hindsight_aws.store.connection import Row
from hindsight_aws.store.document_removal import remove_document
from hindsight_aws.store.index import PostgresIndex
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.memories import PostgresMemories
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("tag_erasures")
_OPERATIONS = queries("operations")
_DOCUMENTS = queries("documents")
_LINKS = queries("links")
_DROPS: Final[Mapping[Part, tuple[str, ...]]] = {
    "directives": ("drop_directives",),
    "runs": ("drop_runs",),
}
"""What a part takes that hangs together by nothing else."""


@dataclass(slots=True)
class Gone:
    """What one transaction of an erasure did: rows by table, work by kind, stored files, and whom to wake."""

    erased: Counter[str] = field(default_factory=Counter)
    blanked: Counter[str] = field(default_factory=Counter)
    queues: Counter[str] = field(default_factory=Counter)
    object_keys: list[str] = field(default_factory=list)
    scopes: list[ScopeId] = field(default_factory=list)
    operations: list[OperationId] = field(default_factory=list)


class TagErasure:
    """One erasure of tags, within one transaction."""

    def __init__(self, session: Session, erasure: Erasure) -> None:
        self._session = session
        self._bank_id = erasure.bank_id
        self._asked: dict[str, object] = {"bank_id": erasure.bank_id, "started_at": erasure.started_at}
        self._tags = frozenset(erasure.tags)
        self._needs_all = erasure.match == "all"
        self._carrying: dict[str, object] = {"tags": list(erasure.tags), "all_of": self._needs_all}

    def targets(self, part: Part, at_most: int) -> list[UUID]:
        found = self._session.tuples(_SQL[part], **self._asked, **self._carrying, at_most=at_most)
        return [row[0] for row in found]

    def is_waited_for(self) -> bool:
        return bool(self._session.tuples(_SQL["runs_going_on"], **self._asked)[0][0])

    def erase(self, part: Part, ids: Sequence[UUID], gone: Gone) -> None:
        each_of: dict[Part, Callable[[UUID, Gone], None]] = {
            "operations": self._operation,
            "archives": self._archive,
            "documents": self._document,
            "scopes": self._scope,
        }
        all_of: dict[Part, Callable[[Sequence[UUID], Gone], None]] = {
            "facts": self._facts,
            "invalidated": self._invalidated,
            "cited": self._blank,
            "names": self._names,
            "pages": self._pages,
        }
        if part in each_of:
            for each in ids:
                each_of[part](each, gone)
        elif part in all_of:
            all_of[part](ids, gone)
        else:
            for name in _DROPS[part]:
                self._session.execute(_SQL[name], bank_id=self._bank_id, ids=list(ids))

    def _operation(self, operation_id: UUID, gone: Gone) -> None:
        """What an operation holds of the tags goes; nothing left to do, and it goes itself."""
        row = self._session.row(_SQL["lock_operation"], bank_id=self._bank_id, id=operation_id)
        if row is None:
            return
        payload: dict[str, Any] = row["payload"]
        tasks = [task for task in payload.get("documents", []) if not self._is_meant(task)]
        if tasks:
            left = {
                "operation_id": str(operation_id),
                "payload": payload | {"documents": tasks},
                "document_ids": [str(each) for each in row["document_ids"]],
                "is_over": False,
            }
            self._session.execute(_DOCUMENTS["relieve_writers"], bank_id=self._bank_id, left=Jsonb([left]))
            self._session.execute(_OPERATIONS["drop_kept"], bank_id=self._bank_id, operation_ids=[operation_id])
            gone.blanked["operations"] += 1
            if row["status"] in ("pending", "processing"):
                gone.operations.append(OperationId(operation_id))
            return
        file = cast("dict[str, str]", payload.get("file") or {})
        if "key" in file:
            gone.object_keys.append(file["key"])
        self._end_operations([row], gone)

    def _archive(self, operation_id: UUID, gone: Gone) -> None:
        """An archive goes as a whole, with the transfer that made it or reads it."""
        row = self._session.row(_SQL["lock_operation"], bank_id=self._bank_id, id=operation_id)
        if row is not None:
            found = self._session.tuples(_SQL["archive_of"], bank_id=self._bank_id, id=operation_id)
            gone.object_keys.extend(key for (key,) in found)
            self._end_operations([row], gone)

    def _end_operations(self, rows: Sequence[Row], gone: Gone) -> None:
        for row in rows:
            uploads = self._session.tuples(_SQL["drop_uploads"], bank_id=self._bank_id, id=row["operation_id"])
            unheld = self._session.tuples(
                _SQL["drop_unheld_files"], bank_id=self._bank_id, id=row["operation_id"], parent_id=row["parent_id"]
            )
            gone.object_keys.extend(key for (key,) in [*uploads, *unheld] if key not in gone.object_keys)
            gone.queues["operations"] += row.get("status") in ("pending", "processing")
            told = self._session.tuples(_SQL["waiting_of_operation"], bank_id=self._bank_id, id=row["operation_id"])
            gone.queues["webhook_deliveries"] += told[0][0]
            self._session.execute(_SQL["end_operation"], bank_id=self._bank_id, id=row["operation_id"])
        for parent_id in sorted({row["parent_id"] for row in rows if row["parent_id"] is not None}):
            self._session.execute(_OPERATIONS["lock_parent"], bank_id=self._bank_id, parent_id=parent_id)
            if not self._session.execute(_SQL["end_childless_parent"], bank_id=self._bank_id, id=parent_id):
                self._session.execute(_OPERATIONS["roll_up"], bank_id=self._bank_id, parent_id=parent_id)

    def _is_meant(self, task: Mapping[str, Any]) -> bool:
        carried = [self._tags.intersection(part.get("tags") or ()) for part in task.get("parts") or ()]
        return any(found == self._tags if self._needs_all else found for found in carried)

    def _document(self, document_id: UUID, gone: Gone) -> None:
        asked = {"bank_id": self._bank_id, "id": document_id}
        writers = self._session.rows(_SQL["lock_operations_of"], **asked, started_at=self._asked["started_at"])
        facts = [row[0] for row in self._session.tuples(_SQL["facts_of_document"], **asked)]
        invalidated = [row[0] for row in self._session.tuples(_SQL["invalidated_of_document"], **asked)]
        kept = [row[0] for row in self._session.tuples(_SQL["kept_of_document"], **asked)]
        self._count_waiting(facts, gone)
        removed = remove_document(self._session, self._bank_id, DocumentId(document_id))
        if removed is None:
            return
        gone.scopes.extend(removed.reopened)
        gone.operations.extend(removed.operations)
        dropped = self._session.tuples(_SQL["drop_kept_files"], bank_id=self._bank_id, ids=kept)
        gone.object_keys.extend(key for (key,) in dropped)
        self._forget_revisions([*facts, *invalidated])
        ids = [row["operation_id"] for row in writers]
        staying = {row[0] for row in self._session.tuples(_SQL["still_writes"], bank_id=self._bank_id, ids=ids)}
        self._end_operations([row for row in writers if row["operation_id"] not in staying], gone)
        self._session.execute(_SQL["unname"], bank_id=self._bank_id, ids=sorted(staying))

    def _facts(self, ids: Sequence[UUID], gone: Gone) -> None:
        self._count_waiting(ids, gone)
        gone.scopes.extend(PostgresMemories(self._session).remove(self._bank_id, [UnitId(each) for each in ids]))
        self._forget_revisions(ids)

    def _invalidated(self, ids: Sequence[UUID], _gone: Gone) -> None:
        PostgresLinks(self._session).archive_will_lose(self._bank_id, fact_ids=[UnitId(each) for each in ids])
        self._session.execute(_SQL["drop_invalidated"], bank_id=self._bank_id, ids=list(ids))
        self._forget_revisions(ids)

    def _count_waiting(self, ids: Sequence[UUID], gone: Gone) -> None:
        asked = {"bank_id": self._bank_id, "fact_ids": list(ids)}
        gone.queues["consolidation_work"] += self._session.tuples(_SQL["waiting_of_facts"], **asked)[0][0]

    def _forget_revisions(self, ids: Sequence[UUID]) -> None:
        self._session.execute(_SQL["drop_revisions_of_facts"], bank_id=self._bank_id, fact_ids=list(ids))

    def _scope(self, scope_id: UUID, gone: Gone) -> None:
        """What is believed in a scope of the tags goes, and what is left to do there for facts that stay."""
        asked = self._asked | {"id": scope_id}
        ids = {"bank_id": self._bank_id, "id": scope_id}
        facts = [row[0] for row in self._session.tuples(_SQL["lock_facts_of_scope"], **asked)]
        self._session.execute(_SQL["forget_scopes"], bank_id=self._bank_id, fact_ids=facts, **self._carrying)
        self._session.execute(_SQL["lock_scope"], **ids)
        believed = [row[0] for row in self._session.tuples(_SQL["lock_observations"], **asked)]
        work = self._session.tuples(_SQL["drop_work"], **asked)
        gone.queues["consolidation_work"] += sum(was_waiting for (was_waiting,) in work)
        ended = self._session.tuples(_SQL["end_observations"], bank_id=self._bank_id, ids=believed)
        counted = {kind: (-units, -terms) for kind, units, terms in ended if kind != "shadow"}
        PostgresIndex(self._session).count(self._bank_id, counted)
        self._session.execute(_SQL["drop_revisions_of_scope"], **asked)
        self._session.execute(_SQL["drop_seals"], **ids)
        self._session.execute(_SQL["drop_scope"], **ids)

    def _pages(self, ids: Sequence[UUID], gone: Gone) -> None:
        refreshes = self._session.tuples(_SQL["drop_refreshes"], bank_id=self._bank_id, ids=list(ids))
        gone.queues["operations"] += sum(was_waiting for (was_waiting,) in refreshes)
        self._session.execute(_SQL["drop_pages"], bank_id=self._bank_id, ids=list(ids))

    def _blank(self, ids: Sequence[UUID], gone: Gone) -> None:
        asked = {"bank_id": self._bank_id, "ids": list(ids)}
        self._session.tuples(_SQL["lock_pages"], **asked)
        gone.blanked["mental_models"] += self._session.execute(_SQL["blank_pages"], **asked)
        gone.blanked["mental_model_revisions"] += self._session.execute(_SQL["blank_versions"], **asked)
        gone.blanked["mental_model_citations"] += self._session.execute(_SQL["blank_citations"], **asked)

    def _names(self, ids: Sequence[UUID], _gone: Gone) -> None:
        there = self._session.tuples(_LINKS["free_entities"], bank_id=self._bank_id, ids=list(ids))
        free = [entity_id for entity_id, is_free in there if is_free]
        self._session.execute(_LINKS["remove_orphans"], bank_id=self._bank_id, ids=free)
        self._session.execute(_LINKS["recount_cooccurrences"], bank_id=self._bank_id, ids=free)
