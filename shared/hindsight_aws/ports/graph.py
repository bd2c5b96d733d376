"""A bank's memories and the links between them, as a picture shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Which memories to show, at most `limit`; None asks nothing.  `text` is a substring in any case.

    `chunk_index` is that of a chunk of `document`.
    """

    limit: int
    text: str | None = None
    document: str | None = None
    chunk_index: int | None = None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory of the picture."""

    id: UUID
    fact_type: str
    text: str
    context: str | None
    event_date: datetime | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    created_at: datetime
    document: str | None
    chunk_index: int | None
    entities: tuple[str, ...]
    tags: tuple[str, ...]
    proof_count: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A link between two memories of the picture; a cause is led to from its effect."""

    source: UUID
    target: UUID
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class Graph:
    """The picture, and how many memories there are in all that could be in it."""

    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
    total: int


class Graphs(Protocol):
    """Pictures of the banks of the transaction's tenant."""

    def of_bank(self, bank_id: BankId, sight: Sight, query: GraphQuery) -> Graph:
        """Memories in sight, last mentioned first, and the links among those that are shown."""
        ...
