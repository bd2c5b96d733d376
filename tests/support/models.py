"""In-memory models that do as they are told: a scripted TextModel, a hashing Embedder, and wake-ups only noted down."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import sqrt
from uuid import UUID

from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyMalformed,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.ports.model_gateway import (
    CallStatus,
    Embedder,
    Embedding,
    EmbeddingPurpose,
    JsonObject,
    JsonValue,
    ModelCall,
    ModelReply,
    ModelUsage,
    TokenUsage,
    ToolUse,
    UsageSink,
)
from hindsight_aws.text.terms import terms

_DATA = re.compile(r'<data kind="(\w+)">\n(.*)\n</data>', re.DOTALL)
_STATUS: dict[type[HindsightError], CallStatus] = {
    ModelThrottled: "throttled",
    ModelUnavailable: "unavailable",
    ModelRefused: "refused",
    ModelDenied: "denied",
    ModelInputTooLong: "denied",
    ModelReplyMalformed: "malformed",
    ModelReplyTruncated: "truncated",
}
Script = Callable[[ModelCall], JsonObject | HindsightError]
Answer = JsonObject | HindsightError | Callable[[ModelCall], JsonObject]


def block(call: ModelCall, kind: str) -> JsonObject:
    """The document in the call's data block of this kind."""
    for rendered in call.blocks:
        found = _DATA.fullmatch(rendered)
        if found and found[1] == kind:
            document: JsonObject = json.loads(found[2])
            return document
    raise KeyError(kind)


def fact(what: str, **fields: JsonValue) -> JsonObject:
    """One fact as the model records it."""
    return {"what": what, "fact_type": "world", **fields}


def one_fact_per_line(call: ModelCall) -> JsonObject:
    """Records each line of the chunk as a fact."""
    text = block(call, "chunk")["text"]
    assert isinstance(text, str)
    return {"facts": [fact(line.strip()) for line in text.splitlines() if line.strip()]}


def in_turn(answers: Mapping[str, Sequence[Answer]]) -> Script:
    """Gives each task its own answers in order; the last one repeats."""
    given: Counter[str] = Counter()

    def script(call: ModelCall) -> JsonObject | HindsightError:
        of_task = answers[call.task]
        answer = of_task[min(given[call.task], len(of_task) - 1)]
        given[call.task] += 1
        return answer(call) if callable(answer) else answer

    return script


class ScriptedModel:
    """A TextModel that answers every call with what `script` says, records the calls, and raises when told to.

    Safe to share between threads.
    """

    def __init__(self, script: Script = one_fact_per_line) -> None:
        self.script = script
        self.calls: list[ModelCall] = []
        self._lock = threading.Lock()

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        with self._lock:
            self.calls.append(call)
        answer = self.script(call)
        tokens = TokenUsage(input=100, output=20)
        status: CallStatus = _STATUS[type(answer)] if isinstance(answer, HindsightError) else "ok"
        usage(ModelUsage(call.task, call.prompt, call.model, status, tokens, Decimal("0.001"), 5.0))
        if isinstance(answer, HindsightError):
            raise answer
        return ModelReply((ToolUse("use-1", call.forced_tool or "", answer),), "", "tool_use", tokens, 5.0, call.model)

    def asked(self, task: str) -> list[ModelCall]:
        """The calls of one task."""
        return [call for call in self.calls if call.task == task]

    def texts(self) -> list[str]:
        """The chunk texts asked about, in order of arrival."""
        return [str(block(call, "chunk")["text"]) for call in self.calls]


class HashEmbedder:
    """An Embedder whose vectors are bags of hashed words: equal texts have equal vectors, shared words make near.

    `fixed` overrides a text's vector; `same` gives every text one vector; `others` are served besides, by model.
    """

    def __init__(self, model: str = "hash-embedder", dimension: int = 512) -> None:
        self._model = model
        self._dimension = dimension
        self.fixed: dict[str, Sequence[float]] = {}
        self.same = False
        self.texts: list[str] = []
        self.failures: list[HindsightError] = []
        self.others: dict[str, HashEmbedder] = {}

    def of(self, model: str | None) -> Embedder | None:
        return self if model in (None, self._model) else self.others.get(model or "")

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        failure = self.failures.pop(0) if self.failures else None
        status: CallStatus = "ok" if failure is None else _STATUS[type(failure)]
        usage(ModelUsage("embed", None, self._model, status, TokenUsage(input=len(texts)), None, 1.0, calls=len(texts)))
        if failure is not None:
            raise failure
        self.texts += texts
        vectors = [array("f", self.vector(text)) for text in texts]
        return [Embedding(vector, is_zero=not any(vector)) for vector in vectors]

    def vector(self, text: str) -> list[float]:
        """The vector of a text, of length one unless there are no words in it."""
        if text in self.fixed:
            return [*self.fixed[text], *([0.0] * (self._dimension - len(self.fixed[text])))]
        values = [0.0] * self._dimension
        for word in ["one"] if self.same else terms(text):
            digest = hashlib.sha256(word.encode()).digest()
            values[int.from_bytes(digest[:4], "big") % self._dimension] += 1.0
        length = sqrt(sum(value * value for value in values)) or 1.0
        return [value / length for value in values]


class NotedWakeups:
    """Wakeups that are noted down instead of sent; `delays` are those of scopes, by message."""

    def __init__(self) -> None:
        self.operations: list[tuple[TenantId, OperationId, int]] = []
        self.conversions: list[tuple[TenantId, OperationId, int]] = []
        self.transfers: list[tuple[TenantId, OperationId, int]] = []
        self.scopes: list[tuple[TenantId, BankId, ScopeId]] = []
        self.delays: list[int] = []
        self.refreshes: list[tuple[TenantId, BankId]] = []
        self.links: list[tuple[TenantId, BankId, int]] = []
        self.erasures: list[tuple[TenantId, ErasureId, int]] = []
        self.webhooks: list[tuple[TenantId, BankId]] = []
        self.deliveries: list[tuple[TenantId, BankId, UUID, int]] = []

    def wake_operations(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        self.operations += [(tenant_id, operation_id, delay_s) for operation_id in operation_ids]

    def wake_transfers(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        self.transfers += [(tenant_id, operation_id, delay_s) for operation_id in operation_ids]

    def wake_conversions(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        self.conversions += [(tenant_id, operation_id, delay_s) for operation_id in operation_ids]

    def wake_scopes(self, tenant_id: TenantId, bank_id: BankId, scope_ids: Sequence[ScopeId], delay_s: int = 0) -> None:
        self.scopes += [(tenant_id, bank_id, scope_id) for scope_id in scope_ids]
        self.delays.append(delay_s)

    def wake_refreshes(self, tenant_id: TenantId, bank_id: BankId) -> None:
        self.refreshes.append((tenant_id, bank_id))

    def wake_links(self, tenant_id: TenantId, bank_id: BankId, delay_s: int = 0) -> None:
        self.links.append((tenant_id, bank_id, delay_s))

    def wake_erasure(self, tenant_id: TenantId, erasure_id: ErasureId, delay_s: int = 0) -> None:
        self.erasures.append((tenant_id, erasure_id, delay_s))

    def wake_webhooks(self, tenant_id: TenantId, bank_id: BankId) -> None:
        self.webhooks.append((tenant_id, bank_id))

    def wake_deliveries(
        self, tenant_id: TenantId, bank_id: BankId, delivery_ids: Sequence[UUID], delay_s: int = 0
    ) -> None:
        self.deliveries += [(tenant_id, bank_id, delivery_id, delay_s) for delivery_id in delivery_ids]
