"""What the tests of recall share: an embedder that answers what it is told, and a short way to ask."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.model_gateway import (
    CallStatus,
    Embedder,
    Embedding,
    EmbeddingPurpose,
    ModelUsage,
    Reranker,
    TokenUsage,
    UsageSink,
)
from hindsight_aws.recall import RecallQuery, recall, recall_together
from hindsight_aws.recall.together import AnswerTogether
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.units import DIMENSIONS, padded

NORTH = (1.0, 0.0, 0.0)
EAST = (0.0, 1.0, 0.0)


@dataclass
class ToldEmbedder:
    """Answers one vector for every text, keeps the texts, and raises what it is told to raise."""

    vector: Sequence[float] = NORTH
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)
    model: str = "amazon.titan-embed-text-v2:0"
    dimension: int = DIMENSIONS

    def of(self, model: str | None) -> Embedder | None:
        return self if model in (None, self.model) else None

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        self.asked += texts
        status: CallStatus = "ok" if self.error is None else "throttled"
        usage(ModelUsage("embed_query", None, self.model, status, TokenUsage(input=7), None, 1.0, len(texts)))
        if self.error is not None:
            raise self.error
        return [Embedding(array("f", padded(self.vector)), not any(self.vector)) for _ in texts]


@dataclass(frozen=True)
class Asking:
    """One caller of one tenant before its banks."""

    store: PostgresStore
    tenant: TenantId
    principal: Principal
    embedder: ToldEmbedder = field(default_factory=ToldEmbedder)
    settings: Settings = field(default_factory=lambda: Settings(hindsight_environment="local"))
    clock: Clock = field(default_factory=SystemClock)

    def ask(self, query: RecallQuery | str, bank: str = "bank", reranker: Reranker | None = None) -> RecallAnswer:
        """Recalls from the bank."""
        asked = RecallQuery(query) if isinstance(query, str) else query
        return recall(
            self.store, self.embedder, self.settings, self.principal, bank, asked, reranker=reranker, clock=self.clock
        )

    def ask_all(self, query: RecallQuery | str, banks: Sequence[str], **settings: object) -> AnswerTogether:
        """Recalls from the banks together, under these settings."""
        asked = RecallQuery(query) if isinstance(query, str) else query
        chosen = self.settings.model_copy(update=settings)
        return recall_together(self.store, self.embedder, chosen, self.principal, banks, asked, clock=self.clock)

    def texts(self, query: RecallQuery | str, bank: str = "bank") -> list[str]:
        """The texts recalled, best first."""
        return [result.unit.text for result in self.ask(query, bank).results]

    def limited(self, **limits: object) -> Asking:
        """The same caller with a key of these limits."""
        return replace(self, principal=replace(self.principal, **limits))  # type: ignore[arg-type]  # names of a Principal
