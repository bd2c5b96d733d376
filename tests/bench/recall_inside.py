"""How long a recall takes inside the function: from the question with its vector to the bytes of the answer.

Called by loads.py; runs the use case in this process, on the Postgres of the stack, as the role that reads.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from statistics import median, quantiles
from typing import Final

import psycopg
from pgvector.psycopg import register_vector

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import Not, TagFilter, TagLeaf, TagsMatch
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import Embedder, Embedding, EmbeddingPurpose, ModelUsage, TokenUsage, UsageSink
from hindsight_aws.recall import RecallQuery, recall, render
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.bench.corpus import Corpus
from tests.bench.system import System

_WARM_UP: Final = 10
FILTERS: Final = {
    "": TagFilter(),
    ", one user's": TagFilter.flat(["user:7"], TagsMatch.ANY_STRICT),
    ", all but one user's": TagFilter((Not(TagLeaf(frozenset({"user:7"}))),)),
}
"""What is asked for besides the question, by how it is told."""


class InstantEmbedder:
    """An Embedder that answers vectors of stored memories at once, one after the other, and reports each as a call."""

    def __init__(self, model: str, vectors: Sequence[array[float]]) -> None:
        self.model = model
        self.dimension = len(vectors[0])
        self._vectors = cycle(vectors)

    def of(self, model: str | None) -> Embedder | None:
        return self if model in (None, self.model) else None

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        usage(ModelUsage("embed_query", None, self.model, "ok", TokenUsage(input=12), None, 0.0, len(texts)))
        return [Embedding(next(self._vectors), False) for _ in texts]


@dataclass(frozen=True, slots=True)
class Inside:
    """What a series of recalls took, in milliseconds, and how much the last one answered."""

    p50: float
    p95: float
    cpu: float
    database: float
    results: int
    kib: int


@contextmanager
def reading(system: System) -> Iterator[PostgresStore]:
    """The store as the recall function sees it."""
    store = PostgresStore(lambda: system.superuser_url.replace("//postgres@", "//hindsight_read@"))
    yield store
    store.close()


def measure(system: System, store: PostgresStore, bank: str, calls: int, tags: TagFilter) -> Inside:
    """What `calls` recalls of the bank take, the query's embedding left out."""
    tenant, embedder = _asked_with(system, bank)
    settings, principal, corpus = Settings(hindsight_environment="local"), Principal(tenant, "bench"), Corpus(99)
    wall: list[float] = []
    cpu: list[float] = []
    results = size = 0
    database = system.cpu()
    for call in range(_WARM_UP + calls):
        if call == _WARM_UP:
            database = system.cpu()
        query = RecallQuery(corpus.question(), tags=tags)
        began, cpu_began = time.perf_counter(), time.process_time()
        answer = recall(store, embedder, settings, principal, bank, query, clock=SystemClock())
        body = render(answer)
        if call >= _WARM_UP:
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - cpu_began) * 1000)
            size, results = len(body), len(answer.results)
    spent = system.cpu().since(database).rest * 1000 / calls
    return Inside(median(wall), quantiles(wall, n=20)[-1], median(cpu), spent, results, size // 1024)


def _asked_with(system: System, bank: str) -> tuple[TenantId, InstantEmbedder]:
    """Whose bank it is, and vectors of what it holds to ask with."""
    with psycopg.connect(system.superuser_url) as admin:
        register_vector(admin)
        rows = admin.execute(
            "SELECT b.tenant_id, b.embedding_model, u.embedding "
            "FROM hindsight.banks AS b JOIN hindsight.memory_units AS u USING (tenant_id, bank_id) "
            "WHERE b.external_id = %s AND u.embedding IS NOT NULL ORDER BY u.id LIMIT 200",
            (bank,),
        ).fetchall()
    tenant, model, _ = rows[0]
    return TenantId(tenant), InstantEmbedder(model, [array("f", vector.to_list()) for _, _, vector in rows])
