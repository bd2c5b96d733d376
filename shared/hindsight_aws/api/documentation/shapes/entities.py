"""Entities and how they stand to each other."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.recall import EntityObservationResponse


class EntityListItem(TypedDict):
    """An entity as lists show it."""

    id: str
    canonical_name: str
    mention_count: int
    first_seen: NotRequired[str | None]
    last_seen: NotRequired[str | None]
    metadata: NotRequired[dict[str, object] | None]


class EntityListResponse(TypedDict):
    """One page of entities."""

    items: list[EntityListItem]
    total: int
    limit: int
    offset: int


class EntityDetailResponse(TypedDict):
    """An entity with its observations."""

    id: str
    canonical_name: str
    mention_count: int
    first_seen: NotRequired[str | None]
    last_seen: NotRequired[str | None]
    metadata: NotRequired[dict[str, object] | None]
    observations: list[EntityObservationResponse]


class EntityGraphNodeData(TypedDict):
    """What is drawn of an entity."""

    id: str
    label: NotRequired[str]
    mentionCount: NotRequired[int]
    color: NotRequired[str | None]


class EntityGraphNode(TypedDict):
    """An entity as a point of the graph."""

    data: EntityGraphNodeData


class EntityGraphEdgeData(TypedDict):
    """How often two entities are named together."""

    id: str
    source: str
    target: str
    linkType: NotRequired[str]
    weight: NotRequired[int]
    color: NotRequired[str | None]
    lineStyle: NotRequired[str | None]
    lastCooccurred: NotRequired[str | None]


class EntityGraphEdge(TypedDict):
    """Two entities as a line of the graph."""

    data: EntityGraphEdgeData


class EntityGraphResponse(TypedDict):
    """Entities that are named together."""

    nodes: list[EntityGraphNode]
    edges: list[EntityGraphEdge]
    total_entities: int
    total_edges: int
    limit: int
