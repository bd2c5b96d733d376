"""The graph: memories and the links between them, in the form that a picture is drawn from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import sight
from hindsight_aws.api.answers import instant, json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Mode, Tags, tag_filter
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.chunk_id import chunk_id as id_of_chunk
from hindsight_aws.model.chunk_id import chunk_of
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.graph import Graph, GraphEdge, GraphNode, GraphQuery

router = APIRouter(prefix="/v1/default/banks/{bank_id}/graph", route_class=ReportingRoute)

_LABEL: Final = 30
_NODE_COLORS: Final = ("#e0e0e0", "#90caf9", "#42a5f5")
"""By the number of entities named: none, one, more."""
_EDGE_LOOKS: Final = {"temporal": ("#00bcd4", "dashed"), "semantic": ("#ff69b4", "solid")}
_CAUSAL_LOOK: Final = ("#8bc34a", "solid")


@router.get("")
async def get_graph(  # noqa: PLR0913, PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    type: str | None = None,  # noqa: A002  # its name on the wire
    limit: Limit = 1000,
    q: str | None = None,
    tags: Tags = None,
    tags_match: Mode = "all_strict",
    document_id: str | None = None,
    chunk_id: str | None = None,
) -> Response:
    """Memories in the caller's sight, last mentioned first, and the links among those shown."""
    with call.bank(bank_id, Permission.READ) as seen:
        bank = seen.bank.external_id
        wanted = sight(seen.principal, [type] if type else None, tag_filter(tags, tags_match))
        query = _query(bank, limit, q, document_id, chunk_id)
        asks_beneath = bool(document_id or chunk_id) and not wanted.sees_beneath
        if query is None or asks_beneath:
            graph = Graph((), (), 0)
        else:
            graph = seen.tx.graphs.of_bank(seen.bank.bank_id, wanted, query)
    return json_answer(
        {
            "nodes": [{"data": _node(node)} for node in graph.nodes],
            "edges": [{"data": _edge(edge)} for edge in graph.edges],
            "table_rows": [_row(node, bank, wanted.sees_beneath) for node in graph.nodes],
            "total_units": graph.total,
            "limit": limit,
        }
    )


def _query(bank: str, limit: int, text: str | None, document: str | None, chunk: str | None) -> GraphQuery | None:
    """What is asked for; None when no memory can be meant: a chunk of no document, or not of the one asked for."""
    if not chunk:
        return GraphQuery(limit, text or None, document or None)
    named = chunk_of(bank, chunk)
    if named is None or document not in (None, "", named[0]):
        return None
    return GraphQuery(limit, text or None, *named)


def _node(node: GraphNode) -> dict[str, object]:
    return {
        "id": node.id,
        "label": node.text if len(node.text) <= _LABEL else f"{node.text[:_LABEL]}...",
        "text": node.text,
        "date": instant(_when(node)) or "",
        "context": node.context or "",
        "entities": ", ".join(node.entities),
        "color": _NODE_COLORS[min(len(node.entities), 2)],
    }


def _edge(edge: GraphEdge) -> dict[str, object]:
    color, line = _EDGE_LOOKS.get(edge.kind, _CAUSAL_LOOK)
    return {
        "id": f"{edge.source}-{edge.target}-{edge.kind}",
        "source": edge.source,
        "target": edge.target,
        "linkType": edge.kind,
        "weight": edge.weight,
        "entityName": "",
        "color": color,
        "lineStyle": line,
    }


def _row(node: GraphNode, bank: str, sees_beneath: bool) -> dict[str, object]:
    document, index = (node.document, node.chunk_index) if sees_beneath else (None, None)
    when = _when(node)
    return {
        "id": node.id,
        "text": node.text,
        "context": node.context or "N/A",
        "occurred_start": node.occurred_start,
        "occurred_end": node.occurred_end,
        "mentioned_at": node.mentioned_at,
        "date": None if when is None else when.astimezone(UTC).strftime("%Y-%m-%d %H:%M"),
        "entities": ", ".join(node.entities),
        "document_id": document,
        "chunk_id": None if document is None or index is None else id_of_chunk(bank, document, index),
        "fact_type": node.fact_type,
        "tags": list(node.tags),
        "created_at": node.created_at,
        "proof_count": node.proof_count,
    }


def _when(node: GraphNode) -> datetime | None:
    return node.event_date or node.occurred_start or node.mentioned_at
