"""Memories: list them, look at one and at how it came to be what it is, correct one, clear them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import get_args

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws import curation
from hindsight_aws.access import Sight, sight
from hindsight_aws.api.answers import instant, json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Mode, Offset, Tags, WrittenBy, tag_filter, uuid_of, window
from hindsight_aws.api.schemas.memories import UpdateMemoryBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import AccessDenied, InvalidRequest, NotFound
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.listing import TimeField
from hindsight_aws.ports.memories import (
    ConsolidationState,
    EvidenceView,
    MemoryDetail,
    MemoryQuery,
    MemoryView,
    State,
)
from hindsight_aws.ports.observations import RevisionView

router = APIRouter(prefix="/v1/default/banks/{bank_id}/memories", route_class=ReportingRoute)


@router.get("/list")
async def list_memories(  # noqa: PLR0913, PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    type: str | None = None,  # noqa: A002  # its name on the wire
    q: str | None = None,
    consolidation_state: str | None = None,
    written_by: WrittenBy = None,
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
            written_by=written_by or {},
            text=q or None,
            document=document_id or None,
            entity=uuid_of(entity_id, "entity_id") if entity_id else None,
            window=window(time_field, "mentioned_at", start_date, end_date),
            limit=limit,
            offset=offset,
        )
        wanted = sight(seen.principal, [type] if type else None, tag_filter(tags, tags_match))
        _require_provenance(wanted, written_by)
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


@router.patch("/{memory_id}")
async def update_memory(call: CallDep, bank_id: str, memory_id: str, body: UpdateMemoryBody) -> Response:
    """Corrects a fact: edits it, takes it out of use, or puts it back; answers with the memory as it is then."""
    principal = call.principal(Permission.WRITE)
    wanted = uuid_of(memory_id, "memory_id")
    curation.correct(call.services.curation_ports, principal, bank_id, wanted, body.as_correction())
    return await get_memory(call, bank_id, memory_id)


@router.delete("/{memory_id}")
async def delete_memory(call: CallDep, bank_id: str, memory_id: str) -> Response:
    """Deletes a fact for good, valid or archived; what rests on it ends."""
    principal = call.principal(Permission.WRITE)
    curation.delete_fact(call.services.curation_ports, principal, bank_id, uuid_of(memory_id, "memory_id"))
    return json_answer({"success": True, "message": f"Memory '{memory_id}' deleted", "deleted_count": 1})


@router.delete("")
async def clear_bank_memories(
    call: CallDep,
    bank_id: str,
    type: str | None = None,  # noqa: A002  # its name on the wire
) -> Response:
    """Deletes every memory of the bank, or of one type; the bank, its settings and its documents stay."""
    principal = call.principal(Permission.WRITE)
    gone = curation.clear_memories(call.services.curation_ports, principal, bank_id, type or None)
    of_type = f" of type '{type}'" if type else ""
    message = f"Cleared {gone} memory unit(s){of_type} from bank '{bank_id}'"
    return json_answer({"success": True, "message": message, "deleted_count": gone})


@router.delete("/{memory_id}/observations")
async def clear_memory_observations(call: CallDep, bank_id: str, memory_id: str) -> Response:
    """Deletes the observations that rest on a fact, which waits for consolidation again."""
    principal = call.principal(Permission.WRITE)
    wanted = uuid_of(memory_id, "memory_id")
    gone = curation.clear_observations_of(call.services.curation_ports, principal, bank_id, wanted)
    return json_answer({"deleted_count": gone})


@router.get("/{memory_id}/history")
async def get_observation_history(
    call: CallDep, bank_id: str, memory_id: str, written_by: WrittenBy = None
) -> Response:
    """What an observation said before each of its latest changes, oldest first; a fact has no history.

    One that was merged into another has its history still, and the last entry names its heir.
    """
    wanted = uuid_of(memory_id, "memory_id")
    absent = NotFound(f"Memory unit '{memory_id}' not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        in_sight = sight(seen.principal)
        is_there = seen.tx.memories.view(seen.bank.bank_id, in_sight, wanted) is not None
        revisions = seen.tx.observations.revisions(seen.bank.bank_id, in_sight, wanted)
        if not is_there and not _is_merged_away(revisions, in_sight):
            raise absent
        _require_provenance(in_sight, written_by)
    asked = (written_by or {}).items()
    changes = [(before, after) for before, after in pairwise(revisions) if asked <= after.provenance.items()]
    latest = changes[max(len(changes) - call.services.settings.hindsight_api_observation_history_max_entries, 0) :]
    return json_answer([_change(before, after, in_sight.sees_beneath) for before, after in latest])


def _is_merged_away(revisions: Sequence[RevisionView], in_sight: Sight) -> bool:
    """Whether these end with a merge into another observation, and the caller may see what is observed there."""
    return bool(revisions) and revisions[-1].kind == "merge" and in_sight.sees("observation", revisions[-1].tags)


def _require_provenance(in_sight: Sight, written_by: Mapping[str, object] | None) -> None:
    """Lets a caller ask by what wrote a thing who may be told it.  Raises AccessDenied."""
    if written_by and not in_sight.sees_beneath:
        raise AccessDenied("This key may not see what wrote an observation")


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
        return shown | {"consolidation": [asdict(scope) for scope in detail.scopes]}
    return shown | {
        "history": [],
        "source_memory_ids": [piece.fact_id for piece in detail.evidence],
        "source_memories": [_source(piece) for piece in detail.evidence],
        "evidence": [{"fact_id": p.fact_id, "quote": p.quote, "origin": p.origin} for p in detail.evidence],
        "withheld": detail.withheld,
        "proof_count": memory.proof_count,
        "created_by": memory.created_by if sees_beneath else None,
        "last_by": memory.last_by if sees_beneath else None,
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
        "merged_into": after.merged_into,
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
