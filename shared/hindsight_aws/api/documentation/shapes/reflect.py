"""What reflect answers."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.memories import ChunkAttachment
from hindsight_aws.api.documentation.shapes.usage import TokenUsage


class ReflectFact(TypedDict):
    """A memory that an answer rests on."""

    id: NotRequired[str | None]
    text: str
    type: NotRequired[str | None]
    context: NotRequired[str | None]
    occurred_start: NotRequired[str | None]
    occurred_end: NotRequired[str | None]
    mentioned_at: NotRequired[str | None]
    document_id: NotRequired[str | None]
    chunk_id: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    metadata: NotRequired[dict[str, str] | None]
    attachments: NotRequired[list[ChunkAttachment] | None]
    cited: NotRequired[bool]


class ReflectMentalModel(TypedDict):
    """A mental model that an answer rests on."""

    id: str
    text: str
    context: NotRequired[str | None]


class ReflectDirective(TypedDict):
    """A directive that an answer follows."""

    id: str
    name: str
    content: str


class ReflectBasedOn(TypedDict):
    """All that an answer rests on."""

    memories: NotRequired[list[ReflectFact]]
    mental_models: NotRequired[list[ReflectMentalModel]]
    directives: NotRequired[list[ReflectDirective]]


class ReflectToolCall(TypedDict):
    """A search that the run made."""

    tool: str
    input: dict[str, object]
    output: NotRequired[dict[str, object] | None]
    duration_ms: int
    iteration: NotRequired[int]


class ReflectLLMCall(TypedDict):
    """A model call of the run."""

    scope: str
    duration_ms: int


class ReflectTrace(TypedDict):
    """The searches and model calls of a run."""

    tool_calls: NotRequired[list[ReflectToolCall]]
    llm_calls: NotRequired[list[ReflectLLMCall]]


class ReflectUsage(TokenUsage):
    """Tokens and price of a run; calls without a known price are counted."""

    usd: NotRequired[float | None]
    unpriced_calls: NotRequired[int]


class ReflectResponse(TypedDict):
    """An answer in words, with what it rests on where that was asked for."""

    text: str
    based_on: NotRequired[ReflectBasedOn | None]
    structured_output: NotRequired[dict[str, object] | None]
    structured_output_error: NotRequired[str | None]
    usage: NotRequired[ReflectUsage | None]
    trace: NotRequired[ReflectTrace | None]
    support: NotRequired[list[dict[str, object]]]
    citation_status: NotRequired[str]
    citations_dropped: NotRequired[int]
    withheld: NotRequired[int | None]
