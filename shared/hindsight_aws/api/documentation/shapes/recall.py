"""What recall answers."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.memories import ChunkAttachment


class RecallScores(TypedDict):
    """What each arm of the search thought of a memory."""

    final: float
    reranker: NotRequired[float | None]
    semantic: NotRequired[float | None]
    keyword: NotRequired[float | None]


class Quote(TypedDict):
    """The words of a fact that an observation rests on."""

    fact_id: str
    quote: str
    origin: Literal["model", "whole"]


class RecallResult(TypedDict):
    """A memory that was found."""

    id: str
    text: str
    type: NotRequired[str | None]
    entities: NotRequired[list[str] | None]
    context: NotRequired[str | None]
    occurred_start: NotRequired[str | None]
    occurred_end: NotRequired[str | None]
    mentioned_at: NotRequired[str | None]
    document_id: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    chunk_id: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    source_fact_ids: NotRequired[list[str] | None]
    scores: NotRequired[RecallScores | None]
    attachments: NotRequired[list[ChunkAttachment] | None]
    stale: NotRequired[bool]
    evidence: NotRequired[list[Quote]]


class ChunkData(TypedDict):
    """The piece of text that a memory was read from."""

    id: str
    text: str
    chunk_index: int
    truncated: NotRequired[bool]
    attachments: NotRequired[list[ChunkAttachment] | None]


class EntityObservationResponse(TypedDict):
    """An observation about an entity."""

    text: str
    mentioned_at: NotRequired[str | None]


class EntityStateResponse(TypedDict):
    """An entity among the memories that were found."""

    entity_id: str
    canonical_name: str
    observations: list[EntityObservationResponse]


class RecallResponse(TypedDict):
    """Memories, best first, within the budget of tokens."""

    results: list[RecallResult]
    trace: NotRequired[dict[str, object] | None]
    entities: NotRequired[dict[str, EntityStateResponse] | None]
    chunks: NotRequired[dict[str, ChunkData] | None]
    source_facts: NotRequired[dict[str, RecallResult] | None]
    source_facts_truncated: NotRequired[bool | None]
    withheld: NotRequired[int]
    cut_arms: NotRequired[list[str]]
    after: NotRequired[dict[str, bool]]
    as_of: NotRequired[dict[str, object]]


class BankRecallResult(RecallResult):
    """A memory that was found, and its bank."""

    bank_id: str


class RecallTogetherResponse(TypedDict):
    """Memories of several banks as one list, best first; entities and traces are told by bank."""

    results: list[BankRecallResult]
    trace: dict[str, object] | None
    entities: dict[str, dict[str, EntityStateResponse]] | None
    chunks: dict[str, ChunkData] | None
    source_facts: dict[str, RecallResult] | None
    source_facts_truncated: bool | None
    withheld: NotRequired[int]
    cut_arms: NotRequired[list[str]]
    as_of: NotRequired[dict[str, object]]
