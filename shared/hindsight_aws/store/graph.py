"""A bank as a picture.  Called through ports/graph.py; calls sql/graph.sql."""

from __future__ import annotations

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.graph import Graph, GraphEdge, GraphNode, GraphQuery
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("graph")


class PostgresGraphs:
    """Pictures of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of_bank(self, bank_id: BankId, sight: Sight, query: GraphQuery) -> Graph:
        rows = self._session.rows(
            _SQL["nodes"],
            bank_id=bank_id,
            text=query.text,
            document=query.document,
            chunk_index=query.chunk_index,
            limit=query.limit,
            **sight_params(sight),
        )
        nodes = [_node(row) for row in rows if row["id"] is not None]
        edges = self._session.tuples(_SQL["edges"], bank_id=bank_id, ids=[node.id for node in nodes]) if nodes else []
        return Graph(nodes, [GraphEdge(*edge) for edge in edges], rows[0]["total"])


def _node(row: Row) -> GraphNode:
    return GraphNode(
        id=row["id"],
        fact_type=row["fact_type"],
        text=row["text"],
        context=row["context"],
        event_date=row["event_date"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
        created_at=row["created_at"],
        document=row["document"],
        chunk_index=row["chunk_index"],
        entities=tuple(row["entities"]),
        tags=tuple(row["tags"]),
        proof_count=row["proof_count"],
    )
