"""Operations: what was asked for and has an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws import operations
from hindsight_aws.access import is_limited, operations_subject, sees_bank
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Offset
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import InvalidRequest, LimitReached
from hindsight_aws.model.ids import OperationId, RunId
from hindsight_aws.model.operation import (
    BATCH_RETAIN,
    CONSOLIDATION,
    EXPORTS,
    POLICY_REBUILD,
    REEMBED,
    REFRESH_MENTAL_MODEL,
    RETAIN,
)
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.operations import OperationQuery, OperationView
from hindsight_aws.ports.reflect import Run
from hindsight_aws.usage.allowance import parked

router = APIRouter(prefix="/v1/default/banks/{bank_id}/operations", route_class=ReportingRoute)
_OF_MODELS = frozenset({RETAIN, BATCH_RETAIN, CONSOLIDATION, POLICY_REBUILD, REEMBED, REFRESH_MENTAL_MODEL})
_NOTHING_KNOWN = (
    "mental_model_id", "created_at", "updated_at", "completed_at", "error_message", "retry_count", "next_retry_at",
    "progress", "result_metadata", "details", "child_operations", "task_payload",
)  # fmt: skip


@router.get("")
async def list_operations(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    status: str | None = None,
    type: str | None = None,  # noqa: A002  # its name on the wire
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
    exclude_parents: bool = False,
) -> Response:
    """Operations in the caller's sight, newest first."""
    with call.bank(bank_id, Permission.READ) as seen:
        subject = operations_subject(seen.principal)
        query = OperationQuery(status or None, type or None, subject, exclude_parents, limit, offset)
        found = seen.tx.operations.page(seen.bank.bank_id, query)
    items = [_listed(operation) for operation in found.items]
    paging = {"total": found.total, "limit": limit, "offset": offset}
    return json_answer({"bank_id": seen.bank.external_id, **paging, "operations": items})


@router.get("/{operation_id}")
async def get_operation_status(
    call: CallDep, bank_id: str, operation_id: str, include_payload: bool = False
) -> Response:
    """One operation; one that is not there is `not_found`, with status 200."""
    principal = call.principal(Permission.READ)
    wanted = _operation_id(operation_id)
    found: OperationView | None = None
    run: Run | None = None
    waits: LimitReached | None = None
    with call.services.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(bank_id) if sees_bank(principal, bank_id) else None
        if bank is not None:
            subject = operations_subject(principal)
            with_payload = include_payload and not is_limited(principal)
            found = tx.operations.view(bank.bank_id, wanted, subject, with_payload)
            if found is not None and found.status in ("pending", "processing") and found.kind in _OF_MODELS:
                waits = parked(tx, call.services.clock.now())
            run = None if found else tx.reflect.find(bank.bank_id, RunId(wanted))
            run = run if run is not None and subject in (None, run.subject) else None
    if run is not None and not _is_work_of_another(run):
        return json_answer(_reflected(run))
    if found is None:
        return json_answer(_absent(operation_id))
    return json_answer(_detailed(found, _result_of(found)) | _parked(waits))


@router.delete("/{operation_id}")
async def cancel_operation(call: CallDep, bank_id: str, operation_id: str) -> Response:
    """Cancels what has not ended; what is stored already stays."""
    principal, wanted = call.principal(Permission.WRITE), _operation_id(operation_id)
    operations.cancel(call.services.store, call.services.wakeups, principal, bank_id, wanted)
    return _done(f"Operation {wanted} cancelled", wanted)


@router.post("/{operation_id}/retry")
async def retry_operation(call: CallDep, bank_id: str, operation_id: str) -> Response:
    """Puts back to work what failed, was cancelled or waits."""
    principal, wanted = call.principal(Permission.WRITE), _operation_id(operation_id)
    operations.retry(call.services.store, call.services.wakeups, principal, bank_id, wanted)
    return _done(f"Operation {wanted} queued for retry", wanted)


@router.delete("/{operation_id}/delete")
async def delete_operation(call: CallDep, bank_id: str, operation_id: str) -> Response:
    """Removes the record of an operation that has ended."""
    principal, wanted = call.principal(Permission.WRITE), _operation_id(operation_id)
    archive_key = operations.remove(call.services.store, principal, bank_id, wanted)
    if archive_key is not None and call.services.settings.hindsight_bucket:
        call.services.file_store.delete(archive_key)
    return _done(f"Operation {wanted} deleted", wanted)


def _parked(waits: LimitReached | None) -> dict[str, object]:
    """What is told of model work that waits for the next day; nothing of other work."""
    return (
        {}
        if waits is None
        else {"parked_until": waits.until, "parked_because": str(waits), "next_retry_at": waits.until}
    )


def _done(message: str, operation_id: OperationId) -> Response:
    return json_answer({"success": True, "message": message, "operation_id": operation_id})


def _operation_id(text: str) -> OperationId:
    try:
        return OperationId(UUID(text))
    except ValueError:
        raise InvalidRequest(f"Invalid operation_id format: {text[:100]}") from None


def _absent(operation_id: str) -> dict[str, object]:
    known = {"operation_id": operation_id, "status": "not_found", "operation_type": None, "id": operation_id}
    return {**known, "task_type": None, **dict.fromkeys(_NOTHING_KNOWN)}


def _is_work_of_another(run: Run) -> bool:
    """Whether the run is how an operation is worked on: that one tells of it."""
    return run.kind == "refresh" and run.request.get("operation_id") is not None


def _reflected(run: Run) -> dict[str, object]:
    """A reflect run, or the preview of a refresh, as an operation; its answer, once there, is the result."""
    kind = "reflect" if run.kind == "reflect" else "dry_run_refresh_mental_model"
    return {
        **_absent(str(run.run_id)),
        "status": "processing" if run.status == "running" else run.status,
        "operation_type": kind,
        "task_type": kind,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "completed_at": run.ended_at,
        "error_message": run.error_message,
        "result_metadata": run.answer,
    }


def _listed(operation: OperationView) -> dict[str, object]:
    return {
        "id": operation.operation_id,
        "task_type": operation.kind,
        "operation_id": operation.operation_id,
        "operation_type": operation.kind,
        "items_count": operation.items_count,
        "document_id": operation.document,
        "filename": operation.result.get("filename"),
        "mental_model_id": operation.result.get("mental_model_id"),
        "details": operation.result.get("details"),
        "created_at": operation.created_at,
        "updated_at": operation.updated_at,
        "status": operation.status,
        "error_message": operation.error_message,
        "retry_count": operation.retries,
        "next_retry_at": operation.next_retry_at,
        "progress": operation.progress,
    }


def _result_of(operation: OperationView) -> Mapping[str, object] | None:
    """The operation's result; an export's with its archive's path, behind the base URL for older clients."""
    result = operation.result
    if operation.kind not in EXPORTS or operation.status != "completed":
        return result or None
    return {**result, "download_url": f"/v1/default/files/download/{result['storage_key']}"}


def _detailed(operation: OperationView, result: Mapping[str, object] | None) -> dict[str, object]:
    children = operation.children
    return {
        "operation_id": operation.operation_id,
        "status": operation.status,
        "operation_type": operation.kind,
        "id": operation.operation_id,
        "task_type": operation.kind,
        "mental_model_id": operation.result.get("mental_model_id"),
        "created_at": operation.created_at,
        "updated_at": operation.updated_at,
        "completed_at": operation.completed_at,
        "error_message": operation.error_message,
        "retry_count": operation.retries,
        "next_retry_at": operation.next_retry_at,
        "progress": operation.progress,
        "result_metadata": result,
        "details": operation.result.get("details"),
        "child_operations": None
        if children is None
        else [
            {
                "operation_id": child.operation_id,
                "status": child.status,
                "sub_batch_index": child.index,
                "items_count": child.items_count,
                "error_message": child.error_message,
            }
            for child in children
        ],
        "task_payload": operation.payload,
    }
