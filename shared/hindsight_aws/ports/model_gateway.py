"""What a use case may ask of models: text with tools, vectors, and reranking.

Called by the use cases; fulfilled by `hindsight_aws.aws` and by in-memory fakes.
Names only standard types: no provider's shape passes this hatch.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, TypeAlias

from hindsight_aws.errors import Conflict

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonObject: TypeAlias = dict[str, JsonValue]

CallStatus = Literal["ok", "throttled", "unavailable", "refused", "denied", "malformed", "truncated", "abandoned"]
EmbeddingPurpose = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the model may use; `schema` is a closed JSON Schema object without the keywords Bedrock rejects."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool by the model; `id` is the wire's and pairs it with its result."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered, for the use it is paired with; `failed` marks an error result."""

    use_id: str
    document: JsonObject
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange: what the model said and used, then the results of all those uses, in the same order.

    `closing` is extra user text after the results (already rendered), for example the request to answer now.
    """

    said: str
    uses: tuple[ToolUse, ...]
    results: tuple[ToolResult, ...]
    closing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Everything one call sends.

    `prompt` is `id@version`; `blocks` are user texts already rendered by `hindsight_aws.prompts.data_block`;
    `forced_tool` names the tool that must be used, `any_tool` asks for at least one of `tools`.
    `tenant` and `bank` go out as request metadata only.
    """

    task: str
    prompt: str
    model: str
    system: str
    blocks: tuple[str, ...]
    max_tokens: int
    tenant: str
    bank: str
    tools: tuple[Tool, ...] = ()
    forced_tool: str | None = None
    any_tool: bool = False
    temperature: float | None = None
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider counted them; `input` excludes what the cache served or stored."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total_input(self) -> int:
        """All tokens the model read, cached ones included."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete reply: never one cut at the output limit, refused, or malformed (those raise).

    For a call with `forced_tool`, `tool_uses` holds exactly that tool's use. `text` may hold prose around it.
    """

    tool_uses: tuple[ToolUse, ...]
    text: str
    stop: str
    usage: TokenUsage
    latency_ms: float
    model: str

    @property
    def tool_input(self) -> JsonObject:
        """The input of the first tool use. Raises: IndexError for a reply without one."""
        return self.tool_uses[0].input


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """One line for the usage ledger: a call, or `calls` equal ones of one batch, and what became of it.

    `usd` is None when the price table does not know the model; the ledger keeps that visible.
    """

    task: str
    prompt: str | None
    model: str
    status: CallStatus
    tokens: TokenUsage
    usd: Decimal | None
    latency_ms: float
    calls: int = 1


UsageSink: TypeAlias = Callable[[ModelUsage], None]
"""Takes each usage record as it happens, before any error is raised. `list.append` is one."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """A finite vector of the asked dimension, as 32-bit floats.

    A zero vector (`is_zero`) has no direction: it must not be linked or ranked by cosine.
    """

    values: array[float]
    is_zero: bool


@dataclass(frozen=True, slots=True)
class QueryVector:
    """What a query was embedded as, and the model that did it: vectors of another model cannot be compared with it."""

    model: str
    embedding: Embedding

    @property
    def values(self) -> array[float] | None:
        """The vector; None when it has no direction."""
        return None if self.embedding.is_zero else self.embedding.values


class TextModel(Protocol):
    """Answers a prompt, with tools."""

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        """One request to the model, never repeated here.

        Hands exactly one record to `usage`, also when it raises.

        Raises: ModelThrottled, ModelUnavailable, ModelRefused, ModelDenied, ModelInputTooLong, ModelReplyMalformed,
        ModelReplyTruncated.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    @property
    def model(self) -> str:
        """The model id to store with a bank; vectors of two ids are never mixed."""
        ...

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        ...

    def of(self, model: str | None) -> Embedder | None:
        """The embedder of banks whose vectors are made by `model`; itself for None; None for one that is not served."""
        ...

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        """One vector per text, in order; a text past the model's limit is cut, a blank one gives a zero vector.

        Hands one record per outcome (`ok`, or a failure) to `usage`, with the number of calls.

        Raises: ModelThrottled, ModelUnavailable, ModelDenied, ModelReplyMalformed (wrong length, not finite).
        """
        ...


def serving(embedder: Embedder, model: str | None) -> Embedder:
    """The embedder to write a bank's vectors with, which `model` makes.  Raises: Conflict where it is not served."""
    found = embedder.of(model)
    if found is None:
        raise Conflict(
            f"the bank's vectors are made by {model}, which this deployment does not serve "
            f"(HINDSIGHT_API_EMBEDDINGS_MODELS_SERVED); those of {embedder.model} cannot be mixed in"
        )
    return found


class Reranker(Protocol):
    """Orders texts by how well they answer a query.

    `ranks_only`: its scores tell the order and nothing else, so that none is shown and no floor is set on them.
    """

    ranks_only: bool

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        """At most `top` pairs (index into `texts`, score), best first.

        Raises: ModelThrottled, ModelUnavailable, ModelDenied, ModelReplyMalformed (an index out of range).
        """
        ...
