"""What an ended operation says of itself: by document, by item, and what it cost.  Called by commit; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.model.ids import DocumentId, UnitId
from hindsight_aws.model.operation import Lease
from hindsight_aws.model.webhook import RETAIN_COMPLETED, WebhookEvent
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.prepared import Prepared

_MOST_SAMPLES: Final = 5
_MOST_IDS: Final = 100


def result_of(prepared: Prepared, account: Account, twins: Mapping[DocumentId, Sequence[str]]) -> JsonObject:
    """The result: ids and counts, no text.

    `items` maps each item, by its place in the request, to its document and its new memories.  `duplicates` names, for
    a new document, others of the same body and tags: they are reported, not merged.  `superseded` names the operations
    that will write documents instead of this one, `superseded_by` one where that leaves nothing to do.
    """
    totals = account.totals
    result: JsonObject = {
        "document_ids": [document.outline.external_id for document in prepared.documents],
        "items": _items(prepared),
        "unit_ids_count": len(prepared.facts),
        "extraction_errors_count": len(prepared.problems),
        "extraction_errors": [problem[:500] for problem in prepared.problems[:_MOST_SAMPLES]],
        "usage": {
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "total_tokens": totals.total_tokens,
            "cached_tokens": totals.cached_tokens,
        },
    }
    if twins:
        names = {document.outline.document_id: document.outline.external_id for document in prepared.documents}
        result["duplicates"] = {names[document_id]: list(others) for document_id, others in twins.items()}
    if prepared.superseded:
        result["superseded"] = {name: str(winner) for name, winner in prepared.superseded.items()}
        if not prepared.documents and prepared.error is None:
            result["superseded_by"] = str(next(iter(prepared.superseded.values())))
    return result


def events_of(prepared: Prepared, lease: Lease) -> list[WebhookEvent]:
    """What webhooks are told of the attempt: each document that is stored now, with how many memories it gained."""
    made = Counter(fact.document_id for fact in prepared.facts)
    return [
        WebhookEvent(
            RETAIN_COMPLETED,
            lease.operation_id,
            "completed",
            {
                "document_id": document.outline.external_id,
                "tags": sorted({tag for part in document.task.parts for tag in part.tags}),
                "memory_unit_count": made[document.outline.document_id],
            },
            about=str(document.outline.document_id),
        )
        for document in prepared.documents
    ]


def _items(prepared: Prepared) -> list[JsonValue]:
    places: dict[tuple[DocumentId, int], int] = {}
    for document in prepared.documents:
        for chunk in document.new_chunks:
            places[document.outline.document_id, chunk.index] = chunk.part.position
    made: defaultdict[tuple[DocumentId, int], list[UnitId]] = defaultdict(list)
    for fact in prepared.facts:
        made[fact.document_id, places[fact.document_id, fact.chunk_index]].append(fact.id)
    items: dict[int, JsonValue] = {}
    for document in prepared.documents:
        for part in document.task.parts:
            ids = made.get((document.outline.document_id, part.position), [])
            items[part.position] = _item(document.outline.external_id, part.position, ids)
    for task in prepared.left_out:
        for part in task.parts:
            items[part.position] = _item(task.external_id or "", part.position, ())
    return [items[position] for position in sorted(items)]


def _item(document: str, position: int, ids: Sequence[UnitId]) -> JsonObject:
    return {
        "index": position,
        "document_id": document,
        "memories_count": len(ids),
        "memory_ids": [str(each) for each in ids] if len(ids) <= _MOST_IDS else None,
    }
