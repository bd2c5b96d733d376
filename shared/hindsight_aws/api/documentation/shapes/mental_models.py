"""Mental models, their triggers and their refreshes."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.usage import TokenUsage

_FallbackReason: TypeAlias = Literal[
    "no_baseline_content",
    "source_query_changed",
    "structured_doc_unreadable",
    "delta_ops_failed",
    "delta_ops_all_skipped",
]
_Outcome: TypeAlias = Literal[
    "content_written",
    "content_unchanged",
    "content_preserved_no_new_facts",
    "refresh_failed_empty_candidate",
    "refresh_failed_delta_not_applied",
]


class MentalModelTrigger(TypedDict):
    """When and from what a mental model is written anew."""

    budget: NotRequired[Literal["low", "mid", "high"] | None]
    mode: NotRequired[Literal["full", "delta"]]
    refresh_after_consolidation: NotRequired[bool]
    refresh_cron: NotRequired[str | None]
    full_refresh_cron: NotRequired[str | None]
    min_refresh_interval_seconds: NotRequired[int | None]
    fact_types: NotRequired[list[Literal["world", "experience", "observation"]] | None]
    exclude_mental_models: NotRequired[bool]
    exclude_mental_model_ids: NotRequired[list[str] | None]
    tags_match: NotRequired[Literal["any", "all", "any_strict", "all_strict", "exact"] | None]
    tag_groups: NotRequired[list[dict[str, object]] | None]
    include_chunks: NotRequired[bool | None]
    recall_max_tokens: NotRequired[int | None]
    recall_chunks_max_tokens: NotRequired[int | None]
    reflect_search_observations_max_tokens: NotRequired[int | None]
    reflect_search_observations_include_entities: NotRequired[bool | None]
    response_schema: NotRequired[dict[str, object] | None]
    keep_trace: NotRequired[bool]


class MentalModelResponse(TypedDict):
    """A mental model with its text."""

    id: str
    bank_id: str
    name: str
    source_query: NotRequired[str | None]
    content: NotRequired[str | None]
    tags: NotRequired[list[str]]
    max_tokens: NotRequired[int | None]
    trigger: NotRequired[MentalModelTrigger | None]
    last_refreshed_at: NotRequired[str | None]
    last_memory_seen_at: NotRequired[str | None]
    last_refresh_failed_at: NotRequired[str | None]
    last_full_refreshed_at: NotRequired[str | None]
    created_at: NotRequired[str | None]
    is_knowledge_page: NotRequired[bool | None]
    reflect_response: NotRequired[dict[str, object] | None]
    is_stale: NotRequired[bool | None]
    staleness_reason: NotRequired[str | None]


class MentalModelListResponse(TypedDict):
    """One page of mental models."""

    items: list[MentalModelResponse]
    total: int
    limit: int
    offset: int


class CreateMentalModelResponse(TypedDict):
    """The new mental model, and the operation that writes its first text."""

    mental_model_id: NotRequired[str | None]
    operation_id: str
    scope_matches: NotRequired[int]


class AsyncOperationSubmitResponse(TypedDict):
    """An operation to ask about."""

    operation_id: str
    status: str


class MentalModelFactCounts(TypedDict):
    """How many memories of each type a refresh saw."""

    retrieved: NotRequired[dict[str, int]]
    used: NotRequired[dict[str, int]]


class MentalModelRefreshScope(TypedDict):
    """What a refresh may look at."""

    tags: NotRequired[list[str] | None]
    tags_match: Literal["any", "all", "any_strict", "all_strict", "exact"]
    tag_groups: NotRequired[list[dict[str, object]] | None]
    fact_types: NotRequired[list[str] | None]
    exclude_mental_models: bool
    exclude_mental_model_ids: NotRequired[list[str]]


class MentalModelRefreshWindow(TypedDict):
    """The time whose memories a refresh looks at."""

    created_after: NotRequired[str | None]
    created_before: str
    watermark: NotRequired[str | None]


class MentalModelRetraction(TypedDict):
    """A sentence that lost its ground."""

    fact_ids: NotRequired[list[str]]
    fact_texts: NotRequired[list[str]]
    applied: bool
    deferred_reason: NotRequired[str | None]


class MentalModelDeltaOperations(TypedDict):
    """The edits of a refresh that changes a text in place."""

    applied: NotRequired[list[dict[str, object]]]
    skipped: NotRequired[list[dict[str, object]]]


class LLMCallTrace(TypedDict):
    """A model call of a refresh."""

    scope: str
    duration_ms: int


class MentalModelTraceToolCall(TypedDict):
    """A search of a refresh."""

    tool: str
    reason: NotRequired[str | None]
    input: NotRequired[dict[str, object]]
    output: NotRequired[dict[str, object] | None]
    updated_at: NotRequired[str | None]
    result_count: NotRequired[int | None]
    duration_ms: int
    iteration: NotRequired[int]


class MentalModelRefreshTrace(TypedDict):
    """The searches and model calls of a refresh."""

    recorded_at: NotRequired[str | None]
    effective_mode: Literal["full", "delta"]
    mode_fallback_reason: NotRequired[_FallbackReason | None]
    outcome: _Outcome
    tool_calls: NotRequired[list[MentalModelTraceToolCall]]
    llm_calls: NotRequired[list[LLMCallTrace]]
    delta_operations: NotRequired[MentalModelDeltaOperations | None]
    retraction: NotRequired[MentalModelRetraction | None]
    usage: NotRequired[TokenUsage | None]
    duration_ms: NotRequired[int]
    warnings: NotRequired[list[str]]


class MentalModelDryRunRefreshResult(TypedDict):
    """What a refresh would write; nothing is stored."""

    mental_model_id: str
    name: str
    requested_mode: Literal["full", "delta"]
    effective_mode: Literal["full", "delta"]
    mode_fallback_reason: NotRequired[_FallbackReason | None]
    outcome: _Outcome
    would_persist: bool
    scope: MentalModelRefreshScope
    window: MentalModelRefreshWindow
    facts: MentalModelFactCounts
    based_on: NotRequired[dict[str, list[dict[str, object]]]]
    current_content: str
    candidate_content: str
    preview_content: str
    diff: str
    delta_operations: NotRequired[MentalModelDeltaOperations | None]
    retraction: NotRequired[MentalModelRetraction | None]
    trace: MentalModelRefreshTrace
    usage: NotRequired[TokenUsage]
    duration_ms: NotRequired[int]
    warnings: NotRequired[list[str]]


class StatusResponse(TypedDict):
    """What was done."""

    status: str


class MentalModelPast(TypedDict):
    """A former text, or a refresh that failed."""

    kind: str
    changed_at: str | None
    previous_content: NotRequired[str | None]
    previous_reflect_response: NotRequired[dict[str, object] | None]
    outcome: NotRequired[str | None]
    failure_reason: NotRequired[str | None]
    error_message: NotRequired[str | None]
