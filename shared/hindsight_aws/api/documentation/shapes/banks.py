"""Banks, their settings and their names."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class DispositionTraits(TypedDict):
    """How doubtful, how literal and how warm a bank answers, each from 1 to 5."""

    skepticism: int
    literalism: int
    empathy: int


class BankListItem(TypedDict):
    """A bank as lists show it."""

    bank_id: str
    name: NotRequired[str | None]
    disposition: DispositionTraits
    mission: NotRequired[str | None]
    created_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]
    fact_count: NotRequired[int]
    last_document_at: NotRequired[str | None]
    last_write_at: NotRequired[str | None]
    display_alias: NotRequired[str | None]
    matched_aliases: NotRequired[list[str]]


class BankListResponse(TypedDict):
    """One page of the banks that the key covers."""

    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


class BankProfileResponse(TypedDict):
    """A bank with its name, traits and mission."""

    bank_id: str
    name: str
    disposition: DispositionTraits
    mission: str
    background: NotRequired[str | None]


class BackgroundResponse(TypedDict):
    """The mission after a text was added to it."""

    mission: str
    background: NotRequired[str | None]
    disposition: NotRequired[DispositionTraits | None]


class BankConfigResponse(TypedDict):
    """Settings as they work, and those that are the bank's own."""

    bank_id: str
    config: dict[str, object]
    overrides: dict[str, object]
    warnings: NotRequired[list[object]]


class BankAliasEntry(TypedDict):
    """Another name of a bank; lists show the primary one."""

    alias: str
    primary: NotRequired[bool]


class BankAliasesResponse(TypedDict):
    """All other names of a bank."""

    bank_id: str
    aliases: list[BankAliasEntry]


class BankStatsResponse(TypedDict):
    """Counts of what a bank holds and of the work that waits."""

    bank_id: str
    total_nodes: int
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int]
    links_breakdown: dict[str, dict[str, int]]
    pending_operations: int
    failed_operations: int
    operations_by_status: NotRequired[dict[str, int]]
    last_consolidated_at: NotRequired[str | None]
    last_memory_write_at: NotRequired[str | None]
    pending_consolidation: NotRequired[int]
    failed_consolidation: NotRequired[int]
    total_observations: NotRequired[int]
    evidence_by_origin: NotRequired[dict[str, int]]


class DeleteResponse(TypedDict):
    """That something is gone, and how much of it there was."""

    success: bool
    message: NotRequired[str | None]
    deleted_count: NotRequired[int | None]


class LlmOperationHealth(TypedDict):
    """Whether the model of one task answers."""

    operation: Literal["retain", "consolidation", "reflect"]
    ok: bool
    status: Literal["connected", "not_configured", "auth_failed", "unreachable", "timeout"]
    latency_ms: NotRequired[float | None]


class BankLlmHealthResponse(TypedDict):
    """Whether the models that a bank uses answer."""

    bank_id: str
    operations: list[LlmOperationHealth]


class BankTemplateImportResponse(TypedDict):
    """What a template changed, or would change."""

    bank_id: str
    config_applied: bool
    mental_models_created: NotRequired[list[str]]
    mental_models_updated: NotRequired[list[str]]
    directives_created: NotRequired[list[str]]
    directives_updated: NotRequired[list[str]]
    operation_ids: NotRequired[list[str]]
    dry_run: NotRequired[bool]
    warnings: NotRequired[list[object]]


class ListTagsResponse(TypedDict):
    """One page of tags."""

    items: list[TagItem]
    total: int
    limit: int
    offset: int


class TagItem(TypedDict):
    """A tag, and how many bear it."""

    tag: str
    count: int


class MemoryTimeseriesBucket(TypedDict):
    """How many memories of each type one span of time brought."""

    time: str
    world: NotRequired[int]
    experience: NotRequired[int]
    observation: NotRequired[int]


class MemoriesTimeseriesResponse(TypedDict):
    """Memories counted along one time axis."""

    bank_id: str
    period: str
    trunc: str
    time_field: NotRequired[str]
    buckets: NotRequired[list[MemoryTimeseriesBucket]]
