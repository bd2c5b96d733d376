"""Memories: list them, look at one, and at how an observation came to be what it is."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import sight
from hindsight_aws.api.answers import instant, json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Mode, Offset, Tags, tag_filter, uuid_of, window
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import InvalidRequest, NotFound
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.memories import (
    ConsolidationState,
    EvidenceView,
    MemoryDetail,
    MemoryQuery,
    MemoryView,
    State,
)
from hindsight_aws.ports.observations import RevisionView
from hindsight_aws.ports.page import TimeField

router = APIRouter(prefix="/v1/default/banks/{bank_id}/memories", route_class=ReportingRoute)


@router.get("/list")
async def list_memories(  # noqa: PLR0913, PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    type: str | None = None,  # noqa: A002  # its name on the wire
    q: str | None = None,
    consolidation_state: str | None = None,
    state: str | None = None,
    document_id: str | None = None,
    entity_id: str | None = None,
    tags: Tags = None,
    tags_match: Mode = "any",
    time_field: TimeField | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Memories in the caller's sight, last mentioned first."""
    with call.bank(bank_id, Permission.READ) as seen:
        query = MemoryQuery(
            state=_state(state),
            consolidation=_consolidation(consolidation_state),
            text=q or None,
            document=document_id or None,
            entity=uuid_of(entity_id, "entity_id") if entity_id else None,
            window=window(time_field, "mentioned_at", start_date, end_date),
            limit=limit,
            offset=offset,
        )
        wanted = sight(seen.principal, [type] if type else None, tag_filter(tags, tags_match))
        found = seen.tx.memories.page(seen.bank.bank_id, wanted, query)
    items = [_listed(memory, seen.bank.external_id, wanted.sees_beneath) for memory in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/{memory_id}")
async def get_memory(call: CallDep, bank_id: str, memory_id: str) -> Response:
    """One memory, with what it rests on; found among the invalidated too."""
    wanted = uuid_of(memory_id, "memory_id")
    absent = NotFound(f"Memory unit '{memory_id}' not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        in_sight = sight(seen.principal)
        detail = seen.tx.memories.view(seen.bank.bank_id, in_sight, wanted)
        if detail is None:
            raise absent
    return json_answer(_detailed(detail, seen.bank.external_id, in_sight.sees_beneath))


@router.get("/{memory_id}/history")
async def get_observation_history(call: CallDep, bank_id: str, memory_id: str) -> Response:
    """What an observation said before each change, oldest first; a fact has no history."""
    wanted = uuid_of(memory_id, "memory_id")
    absent = NotFound(f"Memory unit '{memory_id}' not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        in_sight = sight(seen.principal)
        if seen.tx.memories.view(seen.bank.bank_id, in_sight, wanted) is None:
            raise absent
        revisions = seen.tx.observations.revisions(seen.bank.bank_id, in_sight, wanted)
    changes = pairwise(revisions)
    return json_answer([_change(before, after, in_sight.sees_beneath) for before, after in changes])


def _state(text: str | None) -> State:
    if text is None or text == "valid":
        return "valid"
    if text == "invalidated":
        return "invalidated"
    raise InvalidRequest(f"Invalid state {text[:60]!r}: expected 'valid' or 'invalidated'.")


def _consolidation(text: str | None) -> ConsolidationState | None:
    for known in get_args(ConsolidationState):
        if text == known:
            return known  # type: ignore[no-any-return]  # one of the literals
    if text:
        raise InvalidRequest(f"Invalid consolidation_state {text[:60]!r}: expected 'failed', 'pending' or 'done'.")
    return None


def _listed(memory: MemoryView, bank: str, sees_beneath: bool) -> dict[str, object]:
    return {
        "id": memory.id,
        "text": memory.text,
        "context": memory.context or "",
        "date": instant(memory.event_date) or "",
        "fact_type": memory.fact_type,
        **_origin(memory, bank, sees_beneath),
        "mentioned_at": memory.mentioned_at,
        "occurred_start": memory.occurred_start,
        "occurred_end": memory.occurred_end,
        "entities": ", ".join(memory.entities),
        "proof_count": memory.proof_count,
        "tags": list(memory.tags),
        "metadata": memory.metadata,
        **_condition(memory),
        "updated_at": memory.updated_at,
        "source_memory_ids": list(memory.source_ids),
    }


def _detailed(detail: MemoryDetail, bank: str, sees_beneath: bool) -> dict[str, object]:
    memory = detail.memory
    shown: dict[str, object] = {
        "id": memory.id,
        "text": memory.text,
        "context": memory.context or "",
        "date": instant(memory.event_date) or "",
        "type": memory.fact_type,
        "mentioned_at": memory.mentioned_at,
        "occurred_start": memory.occurred_start,
        "occurred_end": memory.occurred_end,
        "entities": list(memory.entities),
        **_origin(memory, bank, sees_beneath),
        "tags": list(memory.tags),
        "metadata": memory.metadata,
        "observation_scopes": memory.observation_scopes,
        **_condition(memory),
    }
    if memory.fact_type != "observation":
        return shown
    return shown | {
        "history": [],
        "source_memory_ids": [piece.fact_id for piece in detail.evidence],
        "source_memories": [_source(piece) for piece in detail.evidence],
        "evidence": [{"fact_id": p.fact_id, "quote": p.quote, "origin": p.origin} for p in detail.evidence],
        "withheld": detail.withheld,
        "proof_count": memory.proof_count,
        "created_by": memory.created_by,
        "last_by": memory.last_by,
    }


def _origin(memory: MemoryView, bank: str, sees_beneath: bool) -> dict[str, object]:
    if memory.document is None or not sees_beneath:
        return {"document_id": None, "chunk_id": None}
    index = memory.chunk_index
    return {
        "document_id": memory.document,
        "chunk_id": None if index is None else chunk_id(bank, memory.document, index),
    }


def _condition(memory: MemoryView) -> dict[str, object]:
    return {
        "consolidated_at": memory.consolidated_at,
        "consolidation_failed_at": memory.consolidation_failed_at,
        "state": memory.state,
        "invalidation_reason": memory.invalidation_reason,
        "invalidated_at": memory.invalidated_at,
        "edited_at": memory.edited_at,
    }


def _source(piece: EvidenceView) -> dict[str, object]:
    return {
        "id": piece.fact_id,
        "text": piece.text,
        "type": piece.fact_type,
        "context": piece.context or "",
        "occurred_start": piece.occurred_start,
        "mentioned_at": piece.mentioned_at,
    }


def _change(before: RevisionView, after: RevisionView, sees_beneath: bool) -> dict[str, object]:
    """One step of the history; what lies beneath an observation is counted, not shown, to those who may not see it."""
    return {
        "previous_text": before.text if sees_beneath else None,
        "previous_tags": list(before.tags),
        "previous_occurred_start": before.occurred_start if sees_beneath else None,
        "previous_occurred_end": before.occurred_end if sees_beneath else None,
        "previous_mentioned_at": before.mentioned_at if sees_beneath else None,
        "changed_at": after.changed_at,
        "new_source_memory_ids": list(after.added) if sees_beneath else [],
        "source_facts": [_former_source(after, i) for i in range(len(after.source_ids))] if sees_beneath else [],
        "withheld": 0 if sees_beneath else len(after.source_ids),
        "kind": after.kind,
        "provenance": after.provenance if sees_beneath else {},
    }


def _former_source(revision: RevisionView, place: int) -> dict[str, object]:
    fact_id = revision.source_ids[place]
    fact = revision.sources.get(fact_id)
    return {
        "id": fact_id,
        "text": fact.text if fact else None,
        "type": fact.fact_type if fact else None,
        "context": fact.context if fact else None,
        "is_new": fact_id in revision.added,
    }
