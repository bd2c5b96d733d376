"""Consolidation, scopes and strategies."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class ConsolidationResponse(TypedDict):
    """The operation that consolidates."""

    operation_id: str
    deduplicated: NotRequired[bool]


class ReembedResponse(TypedDict):
    """The operation that embeds the bank anew; `deduplicated`: it was going on already."""

    operation_id: str
    status: Literal["pending"]
    model: str
    deduplicated: bool


class RecoverConsolidationResponse(TypedDict):
    """How many failed facts are tried again."""

    retried_count: int


class ObservationScope(TypedDict):
    """A scope, and how many observations it holds."""

    tags: list[str]
    count: int
    strategy_index: NotRequired[int | None]
    strategy_name: NotRequired[str | None]
    pending_count: NotRequired[int]
    failed_count: NotRequired[int]
    policy_hash: NotRequired[str | None]
    is_outdated: NotRequired[bool]
    is_rebuilding: NotRequired[bool]


class ObservationIdSample(TypedDict):
    """Some ids of a scope's observations."""

    count: NotRequired[int]
    ids: NotRequired[list[str]]


class ObservationScopesResponse(TypedDict):
    """The scopes that observations are kept in."""

    scopes: list[ObservationScope]
    total: int
    limit: int
    offset: int


class StrategyScopePreview(TypedDict):
    """A scope that a rule matches."""

    tags: list[str]
    count: int
    handled_by: int | None


class StrategyRulePreview(TypedDict):
    """What one rule matches."""

    match_count: int
    taken_count: int
    observation_count: int
    samples: list[StrategyScopePreview]


class StrategyPreview(TypedDict):
    """What one strategy would claim."""

    active: bool
    claimed_count: int
    rules: list[StrategyRulePreview]


class DefaultScopesPreview(TypedDict):
    """What is left to the bank's own settings."""

    match_count: int
    observation_count: int
    samples: list[StrategyScopePreview]


class ConsolidationStrategiesPreview(TypedDict):
    """What each strategy would claim, before it is saved."""

    strategies: list[StrategyPreview]
    default: DefaultScopesPreview
    scopes_scanned: int
    complete: bool


class PromptBlockModel(TypedDict):
    """A part of a prompt, and where it comes from."""

    text: str
    source: Literal["config", "builtin"]
    field: NotRequired[str]
    section: NotRequired[str]
    heading: NotRequired[str]
    active: NotRequired[bool]
    value: NotRequired[str | None]
    kind: Literal["text", "boolean", "choice", "complex"]
    choices: NotRequired[list[str] | None]
    editable: NotRequired[bool]


class PromptMessageModel(TypedDict):
    """A message to the model."""

    role: Literal["system", "user"]
    blocks: NotRequired[list[PromptBlockModel]]


class RunSettingModel(TypedDict):
    """A setting that a task reads."""

    field: str
    value: NotRequired[str | None]
    kind: Literal["text", "boolean", "choice", "complex"]
    editable: NotRequired[bool]


class PromptPreviewResponse(TypedDict):
    """The prompt of a task as this bank's settings make it."""

    messages: NotRequired[list[PromptMessageModel]]
    strategy: NotRequired[str | None]
    strategies: NotRequired[list[str]]
    run_settings: NotRequired[list[RunSettingModel]]
    response_schema: NotRequired[dict[str, object] | None]
    skipped_reason: NotRequired[str | None]


class RebuildScope(TypedDict):
    """A scope that is made anew, and what that is expected to take."""

    tags: list[str]
    strategy_name: str | None
    is_outdated: bool
    facts: int
    observations: int
    model_calls: int
    created: int
    rewritten: int
    removed: int
    usd: float | None
    input_tokens: int | None
    output_tokens: int | None


class RebuildResponse(TypedDict):
    """The operation that makes observations anew, with what it is expected to take."""

    operation_id: str | None
    scopes_total: int
    estimate: dict[str, object]
    scopes: list[RebuildScope]
    already_rebuilding: list[list[str]]
    unknown_scopes: list[list[str]]
    dry_run: bool


class ConsolidationRun(TypedDict):
    """One call of consolidation: what wrote, and what came of it."""

    run_id: str
    tags: list[str]
    status: str
    counts: dict[str, int]
    policy_hash: str
    strategy_index: int | None
    strategy_name: str | None
    prompt: str | None
    model_id: str | None
    started_at: str
    finished_at: str | None
    reverted_at: str | None
    is_sealed: bool


class ConsolidationRunsResponse(TypedDict):
    """One page of runs, the newest first."""

    runs: list[ConsolidationRun]
    total: int
    limit: int
    offset: int


class SimilarObservation(TypedDict):
    """An observation of a pair."""

    id: str
    text: str
    proof_count: int


class Suggestion(TypedDict):
    """Two observations of one scope that are nearly the same."""

    tags: list[str]
    similarity: float
    observations: list[SimilarObservation]
    found_at: str


class SuggestionsResponse(TypedDict):
    """One page of pairs, the nearest first."""

    suggestions: list[Suggestion]
    total: int
    limit: int
    offset: int


class RevertResponse(TypedDict):
    """What undoing a run gave back."""

    run_id: str
    observations_removed: int
    observations_restored: int
    facts_reopened: int
    retry: bool
