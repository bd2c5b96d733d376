"""Documents: list them, look at one."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import document_tags, sees_documents
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Mode, Offset, Tags, tag_filter, window
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.documents import DocumentView
from hindsight_aws.ports.page import Page

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
        wanted = document_tags(seen.principal, tag_filter(tags, tags_match))
        found: Page[DocumentView] = Page((), 0)
        if sees_documents(seen.principal):
            found = seen.tx.documents.page(seen.bank.bank_id, wanted, q or None, within, limit, offset)
    items = [_listed(document, seen.bank.external_id) for document in found.items]
    paging = {"total": found.total, "limit": limit, "offset": offset, "total_is_estimate": False}
    return json_answer({"items": items, **paging})


@router.get("/{document_id:path}")
async def get_document(call: CallDep, bank_id: str, document_id: str) -> Response:
    """One document with its text; its id may hold slashes."""
    absent = NotFound("Document not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        document: DocumentView | None = None
        if sees_documents(seen.principal):
            document = seen.tx.documents.view(seen.bank.bank_id, document_tags(seen.principal), document_id)
        if document is None:
            raise absent
    return json_answer(_detailed(document, seen.bank.external_id))


def _listed(document: DocumentView, bank: str) -> dict[str, object]:
    return {
        "id": document.external_id,
        "bank_id": bank,
        "content_hash": document.content_hash,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "text_length": document.text_length,
        "memory_unit_count": _facts(document),
        "retain_params": document.retain_params,
        "document_metadata": document.retain_params.get("metadata"),
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
        "document_metadata": document.retain_params.get("metadata"),
        "retain_params": document.retain_params,
        "observation_scopes": document.retain_params.get("observation_scopes"),
        "attachments": None,
    }


def _facts(document: DocumentView) -> int:
    return sum(count for fact_type, count in document.facts_by_type.items() if fact_type != "observation")
