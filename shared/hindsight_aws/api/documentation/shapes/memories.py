"""Memories as they are listed, drawn and retained."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.usage import TokenUsage


class ChunkAttachment(TypedDict):
    """A file that came with a text."""

    id: str
    hash: str
    kind: str
    media_type: str
    byte_size: int
    filename: NotRequired[str | None]
    url: str


class MemoryUnitListItem(TypedDict):
    """A memory as lists show it."""

    id: str
    text: NotRequired[str]
    context: NotRequired[str]
    date: NotRequired[str]
    fact_type: NotRequired[str | None]
    document_id: NotRequired[str | None]
    mentioned_at: NotRequired[str | None]
    occurred_start: NotRequired[str | None]
    occurred_end: NotRequired[str | None]
    entities: NotRequired[str]
    chunk_id: NotRequired[str | None]
    proof_count: NotRequired[int]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, object]]
    consolidated_at: NotRequired[str | None]
    consolidation_failed_at: NotRequired[str | None]
    state: NotRequired[str]
    invalidation_reason: NotRequired[str | None]
    invalidated_at: NotRequired[str | None]
    edited_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]
    source_memory_ids: NotRequired[list[str]]


class ListMemoryUnitsResponse(TypedDict):
    """One page of memories."""

    items: list[MemoryUnitListItem]
    total: int
    limit: int
    offset: int


_RetainResponseWords = TypedDict(
    "_RetainResponseWords",
    {
        "async": bool,
    },
)


class RetainedItem(TypedDict):
    """What came of one item."""

    document_id: str | None
    memories_count: int
    memory_ids: list[str] | None


class RetainResponse(_RetainResponseWords):
    """What became of a retain; an async one is asked for by its operation."""

    success: bool
    bank_id: str
    items_count: int
    operation_id: NotRequired[str | None]
    operation_ids: NotRequired[list[str] | None]
    usage: NotRequired[TokenUsage | None]
    items: NotRequired[list[RetainedItem]]
    watermark: NotRequired[str | None]
    warnings: NotRequired[list[object]]
    screening: NotRequired[dict[str, object]]
    superseded_by: NotRequired[object]


class FileRetainResponse(TypedDict):
    """One operation for each file, in their order."""

    operation_ids: list[str]


class ExtractedFactAttachment(TypedDict):
    """A file that a fact was read from."""

    block_index: int
    type: Literal["image", "file"]
    media_type: str


class ExtractedFact(TypedDict):
    """A fact as extraction finds it."""

    text: str
    fact_type: str
    occurred_start: NotRequired[str | None]
    occurred_end: NotRequired[str | None]
    entities: NotRequired[list[str]]
    chunk_index: NotRequired[int | None]
    attachments: NotRequired[list[ExtractedFactAttachment]]


class ExtractionChunk(TypedDict):
    """A piece of the text, and how many facts it gave."""

    text: str
    fact_count: int


class DryRunExtractionResult(TypedDict):
    """What a retain of the text would make; nothing is stored."""

    facts: NotRequired[list[ExtractedFact]]
    chunks: NotRequired[list[ExtractionChunk]]
    usage: NotRequired[TokenUsage]


class ClearMemoryObservationsResponse(TypedDict):
    """How many observations were removed."""

    deleted_count: int


class MemoryGraphNodeData(TypedDict):
    """What is drawn of a memory."""

    id: str
    label: NotRequired[str]
    text: NotRequired[str]
    date: NotRequired[str]
    context: NotRequired[str]
    entities: NotRequired[str]
    color: NotRequired[str | None]


class MemoryGraphNode(TypedDict):
    """A memory as a point of the graph."""

    data: MemoryGraphNodeData


class MemoryGraphEdgeData(TypedDict):
    """What is drawn of a link."""

    id: str
    source: str
    target: str
    linkType: NotRequired[str]
    weight: NotRequired[float]
    entityName: NotRequired[str]
    color: NotRequired[str | None]
    lineStyle: NotRequired[str | None]


class MemoryGraphEdge(TypedDict):
    """A link as a line of the graph."""

    data: MemoryGraphEdgeData


class MemoryGraphTableRow(TypedDict):
    """A memory of the graph as a row."""

    id: str
    text: NotRequired[str]
    context: NotRequired[str]
    occurred_start: NotRequired[str | None]
    occurred_end: NotRequired[str | None]
    mentioned_at: NotRequired[str | None]
    date: NotRequired[str | None]
    entities: NotRequired[str]
    document_id: NotRequired[str | None]
    chunk_id: NotRequired[str | None]
    fact_type: NotRequired[str | None]
    tags: NotRequired[list[str]]
    created_at: NotRequired[str | None]
    proof_count: NotRequired[int | None]


class GraphDataResponse(TypedDict):
    """Memories and their links, as a graph and as a table."""

    nodes: list[MemoryGraphNode]
    edges: list[MemoryGraphEdge]
    table_rows: list[MemoryGraphTableRow]
    total_units: int
    limit: int


class QuoteOfFact(TypedDict):
    """The words of a fact that an observation rests on."""

    fact_id: str
    quote: str
    origin: Literal["model", "whole"]


class SourceMemory(TypedDict):
    """A fact that an observation rests on."""

    id: str
    text: str | None
    type: str | None
    context: str | None
    occurred_start: NotRequired[str | None]
    mentioned_at: NotRequired[str | None]
    is_new: NotRequired[bool]


class MemoryResponse(TypedDict):
    """A memory whole; `consolidation` is a fact's, what it rests on and who wrote it an observation's."""

    id: str
    text: str
    context: str
    date: str
    type: Literal["world", "experience", "observation"]
    mentioned_at: str | None
    occurred_start: str | None
    occurred_end: str | None
    entities: list[str]
    document_id: str | None
    chunk_id: str | None
    tags: list[str]
    metadata: dict[str, object] | None
    observation_scopes: object
    consolidated_at: str | None
    consolidation_failed_at: str | None
    state: str
    invalidation_reason: str | None
    invalidated_at: str | None
    edited_at: str | None
    consolidation: NotRequired[list[dict[str, object]]]
    history: NotRequired[list[object]]
    source_memory_ids: NotRequired[list[str]]
    source_memories: NotRequired[list[SourceMemory]]
    evidence: NotRequired[list[QuoteOfFact]]
    withheld: NotRequired[int]
    proof_count: NotRequired[int | None]
    created_by: NotRequired[dict[str, object] | None]
    last_by: NotRequired[dict[str, object] | None]


class ObservationChange(TypedDict):
    """What an observation said before a change."""

    previous_text: str | None
    previous_tags: list[str]
    previous_occurred_start: str | None
    previous_occurred_end: str | None
    previous_mentioned_at: str | None
    changed_at: str
    new_source_memory_ids: list[str]
    source_facts: list[SourceMemory]
    withheld: int
    kind: str
    merged_into: str | None
    provenance: dict[str, object]


class FileUploadResponse(TypedDict):
    """Where a file is to be PUT, with exactly these headers."""

    upload_id: str
    method: Literal["PUT"]
    url: str
    headers: dict[str, str]
    expires_at: str
