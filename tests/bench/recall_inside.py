"""How long a recall takes inside the function, the query's embedding left out, on banks filled by SQL.

    python -m tests.bench.recall_inside [--sizes 1000 10000 50000] [--calls 100]

Starts a Postgres of its own; prints one line per bank: milliseconds, CPU-milliseconds of this process, answer size.
"""

from __future__ import annotations

import argparse
import random
import time
from array import array
from collections.abc import Sequence
from statistics import median, quantiles
from uuid import uuid4

import psycopg

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter, TagsMatch
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, ModelUsage, TokenUsage, UsageSink
from hindsight_aws.recall import Budget, RecallQuery, recall, render
from hindsight_aws.settings import Settings
from hindsight_aws.store.migrator import migrate
from hindsight_aws.store.postgres import PostgresStore
from tests.support.server import throwaway_server
from tests.support.units import DIMENSIONS, fill_bank, make_bank

_VOCABULARY = 20_000
_WARM_UP = 10


class InstantEmbedder:
    """An Embedder that answers random vectors at once and reports each as a call."""

    model = "amazon.titan-embed-text-v2:0"
    dimension = DIMENSIONS

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        usage(ModelUsage("embed_query", None, self.model, "ok", TokenUsage(input=12), None, 0.0, len(texts)))
        values = array("f", [self._random.random() - 0.5 for _ in range(DIMENSIONS)])
        return [Embedding(values, False) for _ in texts]


def measure(store: PostgresStore, tenant: TenantId, bank: str, calls: int, tags: TagFilter, budget: Budget) -> str:
    """One line of figures for `calls` recalls on the bank."""
    rng = random.Random(7)
    embedder, settings, principal = (
        InstantEmbedder(7),
        Settings(hindsight_environment="local"),
        Principal(tenant, "bench"),
    )
    wall: list[float] = []
    cpu: list[float] = []
    size = results = 0
    for call in range(_WARM_UP + calls):
        text = " ".join(f"term{int(_VOCABULARY ** rng.random())}" for _ in range(6))
        query = RecallQuery(text, tags=tags, budget=budget)
        began, cpu_began = time.perf_counter(), time.process_time()
        answer = recall(store, embedder, settings, principal, bank, query)
        body = render(answer)
        if call >= _WARM_UP:
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - cpu_began) * 1000)
            size, results = len(body), len(answer.results)
    return (
        f"p50 {median(wall):6.1f} ms   p95 {quantiles(wall, n=20)[-1]:6.1f} ms   cpu {median(cpu):5.1f} ms   "
        f"{results} results, {size // 1024} KiB"
    )


def main() -> None:
    """Fills the banks and prints their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--budget", type=Budget, default=Budget.MID)
    chosen = parser.parse_args()
    with throwaway_server() as folder:
        admin_url = f"postgresql://postgres@/postgres?host={folder}"
        migrate(admin_url)
        tenant = TenantId(uuid4())
        _fill(admin_url, tenant, chosen.sizes)
        store = PostgresStore(lambda: f"postgresql://hindsight_read@/postgres?host={folder}")
        for size in chosen.sizes:
            for name, tags in _filters():
                figures = measure(store, tenant, f"bank-{size}", chosen.calls, tags, chosen.budget)
                print(f"recall inside  {size:>6} memories  {name:<22} {figures}", flush=True)
        store.close()


def _filters() -> list[tuple[str, TagFilter]]:
    return [
        ("no filter", TagFilter()),
        ("any_strict, 1 in 400", TagFilter.flat(["user:7"], TagsMatch.ANY_STRICT)),
        ("any, 1 in 50", TagFilter.flat(["group:7"], TagsMatch.ANY)),
    ]


def _fill(admin_url: str, tenant: TenantId, sizes: Sequence[int]) -> None:
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        admin.execute("INSERT INTO tenants (tenant_id, name) VALUES (%s, 'bench')", (tenant,))
        index = admin.execute("SELECT pg_get_indexdef('memory_units_world_vector'::regclass)").fetchone()
        assert index is not None
        # A bulk load builds the vector index last: row by row it would take minutes.
        admin.execute("DROP INDEX memory_units_world_vector")
        for size in sizes:
            fill_bank(admin_url, tenant, make_bank(admin_url, tenant, f"bank-{size}"), size)
        admin.execute("SET maintenance_work_mem = '512MB'")
        admin.execute(index[0])
        admin.execute("ANALYZE")


if __name__ == "__main__":
    main()
