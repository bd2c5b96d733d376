"""Chunks: one by its id."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import document_sight, sees_documents
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.chunk_id import chunk_id, read_chunk_id
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.documents import ChunkView

router = APIRouter(route_class=ReportingRoute)


@router.get("/v1/default/chunks/{chunk_id:path}")
async def get_chunk(call: CallDep, chunk_id: str) -> Response:
    """One chunk of a document in the caller's sight."""
    absent = NotFound("Chunk not found")
    call = replace(call, known=call.principal(Permission.READ))
    named = read_chunk_id(chunk_id)
    if named is None:
        raise absent
    bank, document, index = named
    with call.bank(bank, Permission.READ, absent) as seen:
        chunk: ChunkView | None = None
        if sees_documents(seen.principal):
            chunk = seen.tx.documents.chunk(seen.bank.bank_id, document_sight(seen.principal), document, index)
        if chunk is None:
            raise absent
    return json_answer(shown_chunk(chunk, seen.bank.external_id))


def shown_chunk(chunk: ChunkView, bank: str) -> dict[str, object]:
    """A chunk as it is shown."""
    return {
        "chunk_id": chunk_id(bank, chunk.document, chunk.index),
        "document_id": chunk.document,
        "bank_id": bank,
        "chunk_index": chunk.index,
        "chunk_text": chunk.text,
        "created_at": chunk.created_at,
        "attachments": None,
    }
