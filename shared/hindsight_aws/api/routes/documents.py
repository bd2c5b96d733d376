"""Documents: list them, look at one, at its chunks and its history; label, delete and process them again."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws import documents
from hindsight_aws.access import document_sight, sees_documents
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.errors import detail
from hindsight_aws.api.query import Limit, Mode, Offset, PageSize, Tags, tag_filter, window
from hindsight_aws.api.routes.chunks import shown_chunk
from hindsight_aws.api.schemas.documents import UpdateDocumentBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.documents import ChunkView, DocumentView, EventView
from hindsight_aws.ports.listing import Page
from hindsight_aws.retain import USUAL_ENTITY_TYPE

router = APIRouter(prefix="/v1/default/banks/{bank_id}/documents", route_class=ReportingRoute)
_RAW = {"world": 0, "experience": 0, "observation": 0}


@router.get("")
async def list_documents(  # noqa: PLR0913, PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    q: str | None = None,
    tags: Tags = None,
    tags_match: Mode = "any_strict",
    time_field: Literal["created_at", "updated_at"] | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Documents in the caller's sight, last updated first, without their text."""
    with call.bank(bank_id, Permission.READ) as seen:
        within = window(time_field, "updated_at", start_date, end_date)
        wanted = document_sight(seen.principal, tag_filter(tags, tags_match))
        found: Page[DocumentView] = Page((), 0)
        if sees_documents(seen.principal):
            found = seen.tx.documents.page(seen.bank.bank_id, wanted, q or None, within, limit, offset)
    items = [_listed(document, seen.bank.external_id) for document in found.items]
    paging = {"total": found.total, "limit": limit, "offset": offset, "total_is_estimate": False}
    return json_answer({"items": items, **paging})


@router.get("/{document_id:path}/chunks")
async def list_document_chunks(
    call: CallDep, bank_id: str, document_id: str, limit: PageSize = 100, offset: Offset = 0
) -> Response:
    """The chunks of a document, in order."""
    absent = NotFound("Document not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        found: Page[ChunkView] | None = None
        if sees_documents(seen.principal):
            wanted = document_sight(seen.principal)
            found = seen.tx.documents.chunk_page(seen.bank.bank_id, wanted, document_id, limit, offset)
        if found is None:
            raise absent
    items = [shown_chunk(chunk, seen.bank.external_id) for chunk in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/{document_id:path}/history")
async def get_document_history(
    call: CallDep, bank_id: str, document_id: str, limit: PageSize = 100, offset: Offset = 0
) -> Response:
    """What was done to a document, the latest first; nothing for one that is not there."""
    found: Page[EventView] | None = None
    with suppress(NotFound), call.bank(bank_id, Permission.READ) as seen:
        if sees_documents(seen.principal):
            wanted = document_sight(seen.principal)
            found = seen.tx.documents.events(seen.bank.bank_id, wanted, document_id, limit, offset)
    items = [_event(event, document_id) for event in found.items] if found else []
    total = found.total if found else 0
    return json_answer({"document_id": document_id, "total": total, "limit": limit, "offset": offset, "items": items})


@router.post("/{document_id:path}/reprocess", operation_id="reprocess_document")
async def reprocess(call: CallDep, bank_id: str, document_id: str) -> Response:
    """Has a document read again from its stored text."""
    principal = call.principal(Permission.WRITE)
    begun = documents.reprocess_document(call.services.document_ports, principal, bank_id, document_id)
    return json_answer({"success": True, "operation_id": begun.operation_id, "items_count": begun.items})


@router.get("/{document_id:path}")
async def get_document(call: CallDep, bank_id: str, document_id: str) -> Response:
    """One document with its text; its id may hold slashes."""
    absent = NotFound("Document not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        document: DocumentView | None = None
        if sees_documents(seen.principal):
            document = seen.tx.documents.view(seen.bank.bank_id, document_sight(seen.principal), document_id)
        if document is None:
            raise absent
    return json_answer(_detailed(document, seen.bank.external_id))


@router.patch("/{document_id:path}")
async def update_document(call: CallDep, bank_id: str, document_id: str, body: UpdateDocumentBody) -> Response:
    """Other tags or scopes for a document and its facts."""
    principal = call.principal(Permission.WRITE)
    patch = body.as_patch()
    if patch.tags is None and patch.observation_scopes is None:
        return detail("At least one field (tags, observation_scopes) must be provided", 422)
    documents.patch_document(call.services.document_ports, principal, bank_id, document_id, patch)
    return json_answer({"success": True})


@router.delete("/{document_id:path}")
async def delete_document(call: CallDep, bank_id: str, document_id: str) -> Response:
    """Takes a document out, with everything that came of it."""
    principal = call.principal(Permission.WRITE)
    deleted = documents.delete_document(call.services.document_ports, principal, bank_id, document_id)
    return json_answer(
        {
            "success": True,
            "message": f"Document '{deleted.document}' and {deleted.facts} associated memory units deleted",
            "document_id": deleted.document,
            "memory_units_deleted": deleted.facts,
        }
    )


def _listed(document: DocumentView, bank: str) -> dict[str, object]:
    return {
        "id": document.external_id,
        "bank_id": bank,
        "content_hash": document.content_hash,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "text_length": document.text_length,
        "memory_unit_count": _facts(document),
        **_params(document),
        "tags": list(document.tags),
        "matched_fields": list(document.matched),
    }


def _detailed(document: DocumentView, bank: str) -> dict[str, object]:
    return {
        "id": document.external_id,
        "bank_id": bank,
        "original_text": document.text,
        "content_hash": document.content_hash,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "memory_unit_count": _facts(document),
        "nodes_by_fact_type": {**_RAW, **document.facts_by_type},
        "tags": list(document.tags),
        **_params(document),
        "observation_scopes": document.retained.observation_scopes,
        "attachments": None,
    }


def _params(document: DocumentView) -> dict[str, object]:
    """What the caller said of it; what was not said is not there."""
    retained = document.retained
    said = {
        "context": retained.context,
        "metadata": dict(retained.metadata),
        "entities": [{"text": name, "type": kind or USUAL_ENTITY_TYPE} for name, kind in retained.entities],
        "observation_scopes": retained.observation_scopes,
        "strategy": retained.strategy,
        "event_date": retained.event_date,
    }
    given: dict[str, object] = {name: value for name, value in said.items() if value}
    if retained.entities:
        given["resolve_entities"] = retained.resolves_entities
    return {"retain_params": given or None, "document_metadata": said["metadata"] or None}


def _event(event: EventView, document: str) -> dict[str, object]:
    observations = {
        name: event.detail.get(name) or {"count": 0, "ids": []}
        for name in ("observations_created", "observations_updated", "observations_removed")
    }
    return {
        "document_id": document,
        "kind": event.kind,
        "created_at": event.created_at,
        "operation_id": event.operation_id,
        "fact_id": event.detail.get("fact_id"),
        "facts_added": event.facts_added,
        "facts_removed": event.facts_removed,
        **observations,
    }


def _facts(document: DocumentView) -> int:
    return sum(count for fact_type, count in document.facts_by_type.items() if fact_type != "observation")
