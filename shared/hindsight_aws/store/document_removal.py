"""Takes a document out so that nothing brings it back: its facts, its rows, and the work that would write it again.

Called by store/documents.py.  Locks in the global order (docs/architecture.md).
"""

from __future__ import annotations

from typing import Any, cast

from psycopg.types.json import Jsonb

from hindsight_aws.model.document import document_id_of, generated_external_id
from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.operation import RETAIN
from hindsight_aws.ports.documents import Removed
from hindsight_aws.store.connection import Row
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.memories import PostgresMemories
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("documents")
_OPERATIONS = queries("operations")


def remove_document(session: Session, bank_id: BankId, document_id: DocumentId) -> Removed | None:
    """As `Documents.remove` says, for a document that was there a moment ago; None when it is gone."""
    asked = {"bank_id": bank_id, "document_id": document_id}
    writers = session.rows(_SQL["lock_writers"], **asked)
    if not session.tuples(_SQL["lock_versions"], bank_id=bank_id, document_ids=[document_id]):
        return None
    left = [_left_of(bank_id, document_id, writer) for writer in writers]
    if left:
        session.execute(_SQL["relieve_writers"], bank_id=bank_id, left=Jsonb(left))
        session.execute(
            _OPERATIONS["drop_kept"], bank_id=bank_id, operation_ids=[writer["operation_id"] for writer in writers]
        )
    all_of_it = {"bank_id": bank_id, "document_ids": [document_id], "kept_of": [], "kept": []}
    leaving = [row[0] for row in session.tuples(_SQL["leaving_facts"], **all_of_it)]
    reopened = PostgresMemories(session).remove(bank_id, leaving) if leaving else []
    PostgresLinks(session).archive_will_lose(bank_id, document_ids=[document_id])
    session.execute(_SQL["remove"], **asked)
    parents = sorted({w["parent_id"] for w in writers if w["parent_id"] is not None and _is_open(w)})
    for parent_id in parents:
        session.execute(_OPERATIONS["lock_parent"], bank_id=bank_id, parent_id=parent_id)
        session.execute(_OPERATIONS["roll_up"], bank_id=bank_id, parent_id=parent_id)
    going_on = [
        OperationId(writer["operation_id"])
        for writer, rest in zip(writers, left, strict=True)
        if _is_open(writer) and not rest["is_over"]
    ]
    return Removed(len(leaving), reopened, going_on)


def _is_open(writer: Row) -> bool:
    return writer["status"] in ("pending", "processing")


def _left_of(bank_id: BankId, document_id: DocumentId, writer: Row) -> dict[str, object]:
    """What an operation has left to do without the document."""
    payload: dict[str, Any] = writer["payload"]
    operation_id = OperationId(writer["operation_id"])
    others = [str(each) for each in writer["document_ids"] if each != document_id]
    if writer["kind"] != RETAIN or "documents" not in payload:
        return {"operation_id": str(operation_id), "payload": {}, "document_ids": others, "is_over": True}
    tasks = [task for task in payload["documents"] if _writes(bank_id, operation_id, task) != document_id]
    return {
        "operation_id": str(operation_id),
        "payload": payload | {"documents": tasks},
        "document_ids": others,
        "is_over": not tasks,
    }


def _writes(bank_id: BankId, operation_id: OperationId, task: dict[str, object]) -> DocumentId:
    name = cast("str | None", task["id"])
    if name is None:
        name = generated_external_id(operation_id, cast("int", task["place"]))
    return document_id_of(bank_id, name)
