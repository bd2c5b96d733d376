"""`Embedder` over InvokeModel, in the form of the model's family: several calls in flight, each answer checked.

Joined to the use cases by `runtime`; calls `embedding_wire`, `failures` and boto3. The only adapter that asks again: a
batch must not lose its other texts to one throttled call, so it waits up to `patience_s` for those turned away.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from hindsight_aws.aws.bedrock.clients import BedrockClients
from hindsight_aws.aws.bedrock.embedding_wire import LONGEST, wire_of
from hindsight_aws.aws.bedrock.failures import WIRE_FAULTS, failure_of, status_of
from hindsight_aws.aws.bedrock.titan import parse, read_vector
from hindsight_aws.errors import HindsightError, ModelReplyMalformed, ModelThrottled, ModelUnavailable
from hindsight_aws.ports.model_gateway import (
    CallStatus,
    Embedder,
    Embedding,
    EmbeddingPurpose,
    ModelUsage,
    TokenUsage,
    UsageSink,
)
from hindsight_aws.usage.prices import usd_for

_FIRST_WAIT_S = 0.2
_PASSING = (ModelThrottled, ModelUnavailable)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one call."""

    tokens: int
    embeddings: Sequence[Embedding] | None = None
    failure: HindsightError | None = None


class BedrockEmbedder:
    """Keeps `ports.model_gateway.Embedder`.

    `served` are the models whose embedders `of` hands out besides its own.  `patience_s` bounds how long documents wait
    for throttled calls; a query never waits: somebody is watching.

    Raises: ValueError for a dimension beyond what is stored.
    """

    def __init__(
        self,
        clients: BedrockClients,
        model: str,
        dimension: int | None = None,
        *,
        served: Sequence[str] = (),
        in_flight: int = 8,
        patience_s: float = 10.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        own = wire_of(model)
        self._wire = own if dimension is None else replace(own, dimension=dimension)
        if self._wire.dimension > LONGEST:
            raise ValueError(f"{model} makes vectors of {self._wire.dimension} numbers; at most {LONGEST} are stored")
        self.model = model
        self.dimension = self._wire.dimension
        self._served = frozenset(served)
        self._others: dict[str, BedrockEmbedder] = {}
        self._clients = clients
        self._in_flight = in_flight
        self._patience_s = patience_s
        self._sleep = sleep

    def of(self, model: str | None) -> Embedder | None:
        if model is None or model == self.model:
            return self
        if model not in self._served:
            return None
        if model not in self._others:
            self._others[model] = BedrockEmbedder(
                self._clients, model, in_flight=self._in_flight, patience_s=self._patience_s, sleep=self._sleep
            )
        return self._others[model]

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        found: dict[str, Embedding] = {}
        pending = [text for text in dict.fromkeys(texts) if text.strip()]
        patience = self._patience_s if purpose == "document" else 0.0
        started = time.perf_counter()
        wait = _FIRST_WAIT_S
        while pending:
            groups = [pending[at : at + self._wire.most_texts] for at in range(0, len(pending), self._wire.most_texts)]
            outcomes = self._all(groups, purpose)
            self._record(purpose, outcomes, time.perf_counter() - started, usage)
            for group, outcome in zip(groups, outcomes, strict=True):
                found |= zip(group, outcome.embeddings or (), strict=outcome.embeddings is not None)
            failures = [o.failure for o in outcomes if o.failure is not None]
            final = next((failure for failure in failures if not isinstance(failure, _PASSING)), None)
            pause = random.uniform(wait / 2, wait)  # noqa: S311 - spreads retries, keeps no secret
            if final is not None or (failures and time.perf_counter() - started + pause > patience):
                raise final or failures[0]
            pending = [text for text in pending if text not in found]
            if pending:
                self._sleep(pause)
                wait *= 2
        zero = read_vector({"embedding": [0.0] * self.dimension}, self.dimension)
        return [found.get(text, zero) for text in texts]

    def _all(self, groups: list[list[str]], purpose: EmbeddingPurpose) -> list[_Outcome]:
        """One call per group, in order; after a final failure the calls that have not begun are left out."""
        stop = threading.Event()
        if len(groups) == 1:
            return [self._one(groups[0], purpose, stop)]
        return list(self._pool.map(lambda group: self._one(group, purpose, stop), groups))

    def _one(self, texts: Sequence[str], purpose: EmbeddingPurpose, stop: threading.Event) -> _Outcome:
        if stop.is_set():
            return _Outcome(0)
        try:
            answer = self._clients.runtime.invoke_model(
                modelId=self._clients.address(self.model),
                body=self._wire.body(texts, purpose),
                contentType="application/json",
                accept="application/json",
            )
            body = answer["body"].read()
        except WIRE_FAULTS as fault:
            failure = failure_of(fault)
            if not isinstance(failure, _PASSING):
                stop.set()
            return _Outcome(0, failure=failure)
        headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return self._read(body, headers, len(texts), stop)

    def _read(self, body: bytes, headers: Mapping[str, str], count: int, stop: threading.Event) -> _Outcome:
        tokens = 0
        try:
            document = parse(body)
            tokens = self._wire.tokens(document, headers)
            return _Outcome(tokens, self._wire.read(document, count))
        except ModelReplyMalformed as failure:
            stop.set()
            return _Outcome(tokens, failure=failure)

    def _record(self, purpose: EmbeddingPurpose, outcomes: list[_Outcome], seconds: float, usage: UsageSink) -> None:
        """One ledger line for each kind of outcome."""
        by_status: dict[CallStatus, list[int]] = {}
        for outcome in outcomes:
            if outcome.embeddings is not None:
                by_status.setdefault("ok", []).append(outcome.tokens)
            elif outcome.failure is not None:
                by_status.setdefault(status_of(outcome.failure), []).append(outcome.tokens)
        for status, counts in by_status.items():
            tokens = TokenUsage(input=sum(counts))
            usd = usd_for(self.model, tokens, len(counts))
            usage(
                ModelUsage(f"embed_{purpose}", None, self.model, status, tokens, usd, seconds * 1000, calls=len(counts))
            )

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._in_flight, thread_name_prefix="embed")
