"""Operations between rows and values.  Called by store/operations.py; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.model.ids import DocumentId
from hindsight_aws.model.operation import Lease, NewOperation
from hindsight_aws.ports.operations import ChildView, OperationView
from hindsight_aws.store.connection import Row


def operation_json(new: NewOperation) -> dict[str, object]:
    return {
        "operation_id": str(new.operation_id),
        "parent_id": None if new.parent_id is None else str(new.parent_id),
        "kind": new.kind,
        "subject": new.subject,
        "payload": new.payload,
        "items_count": new.items_count,
        "document_external_id": new.document_external_id,
        "document_ids": [str(document_id) for document_id in new.document_ids],
        "result": new.result,
    }


def lease_of(row: Row) -> Lease:
    ids = tuple(DocumentId(document_id) for document_id in row.pop("document_ids"))
    return Lease(**row, document_ids=ids)


def operation_view(row: Row, children: Sequence[Row] | None) -> OperationView:
    return OperationView(
        operation_id=row["operation_id"],
        kind=row["kind"],
        status=row["status"] if children is None else _status_of(row, children),
        items_count=row["items_count"],
        document=row["document_external_id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        completed_at=row["completed_at"],
        error_message=row["error_message"],
        retries=max(row["attempts"] - 1, 0),
        next_retry_at=row["next_try_at"],
        progress=row["progress"] if children is None else _progress_of(row, children),
        result=row["result"],
        payload=row["payload"],
        children=None if children is None else tuple(_child(index, child) for index, child in enumerate(children, 1)),
    )


def _status_of(row: Row, children: Sequence[Row]) -> str:
    """A parent that waits for its children is at work as soon as one of them is."""
    is_at_work = row["status"] == "pending" and any(child["status"] == "processing" for child in children)
    return "processing" if is_at_work else str(row["status"])


def _progress_of(row: Row, children: Sequence[Row]) -> Mapping[str, object]:
    """An only child's own progress; of several, how many have ended."""
    if len(children) == 1 and children[0]["progress"] is not None and row["completed_at"] is None:
        alone: Mapping[str, object] = children[0]["progress"]
        return alone
    ended = sum(1 for child in children if child["status"] not in ("pending", "processing"))
    return {"stage": _status_of(row, children), "at": row["updated_at"], "processed": ended, "total": len(children)}


def _child(index: int, row: Row) -> ChildView:
    return ChildView(row["operation_id"], row["status"], index, row["items_count"], row["error_message"])
