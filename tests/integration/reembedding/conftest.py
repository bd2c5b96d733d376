"""A bank that is embedded anew: the API before it, the worker called by hand, two models of different length."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from psycopg.rows import dict_row

from hindsight_aws.jobs.transfer import work
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, UsageSink
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.models import HashEmbedder

BANK = "/v1/default/banks/garden"
OLD, NEW = "hash-embedder", "hash-384"
REVISION = """
INSERT INTO hindsight.observation_revisions
    (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags, embedding, embedding_model)
SELECT tenant_id, bank_id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'create', 'The hens are fed.', '{}',
       embedding, embedding_model
FROM hindsight.memory_units WHERE text LIKE 'Bob%%' RETURNING revision_id
"""
PAGE = """
INSERT INTO hindsight.mental_models
    (tenant_id, bank_id, page_id, model_id, name, source_query, content, embedding, embedding_model, max_tokens,
     creator, scope_types)
SELECT tenant_id, bank_id, gen_random_uuid(), 'hens', 'Hens', 'What of the hens?', 'The hens lay.', embedding,
       embedding_model, 512, '{}', '{}'
FROM hindsight.memory_units WHERE text LIKE 'Bob%%' RETURNING page_id
"""
Rows = list[dict[str, Any]]


class Watched(HashEmbedder):
    """Lets a test do something each time before texts are embedded."""

    before: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        if self.before is not None:
            self.before()
        return super().embed(texts, purpose, usage)


@dataclass
class Desk:
    """A caller, the worker behind them, and what tests look at."""

    database: Database
    tenant: TenantId
    services: FakeRuntime
    call: Caller
    old: Watched
    new: Watched

    def use(self, embedder: Watched) -> None:
        """Has the deployment's setting name this model for new banks."""
        self._with(embedder=embedder)

    def configure(self, **settings: object) -> None:
        """Other settings of the deployment."""
        self._with(settings=self.services.settings.model_copy(update=settings))

    def _with(self, **parts: object) -> None:
        kept = self.services.__dict__
        for name in [name for name in kept if name.endswith("_ports")]:
            del kept[name]
        kept.update(parts)

    def retain(self, *texts: str) -> None:
        """Stores each text as a fact of a document of its own."""
        items = [{"content": text, "document_id": text} for text in texts]
        answer = self.call("POST", f"{BANK}/memories", {"items": items})
        assert answer.status == 200, answer.body

    def recall(self, query: str) -> list[str]:
        """The texts recalled, best first, by the vectors alone."""
        answer = self.call("POST", f"{BANK}/memories/recall", {"query": query, "types": ["world"]})
        assert answer.status == 200, answer.body
        return [result["text"] for result in answer.json()["results"]]

    def ask(self, model: str | None = NEW) -> str:
        """Asks for the bank to be embedded anew; the operation."""
        answer = self.call("POST", f"{BANK}/reembed", {"model": model})
        assert answer.status == 202, answer.body
        return str(answer.json()["operation_id"])

    def work(self, seconds: float = 600.0, most: int = 50) -> None:
        """What the queue would have the worker do, until nothing is left."""
        noted = self.services.noted.transfers
        for _ in range(most):
            if not noted:
                return
            tenant_id, operation_id, _ = noted.pop(0)
            body = json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)})
            work(self.services.transfer_ports, self.services.reembedding_ports, body, seconds)

    def operation(self, operation_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"{BANK}/operations/{operation_id}").json()
        return found

    def sql(self, statement: str, *params: object) -> Rows:
        """Rows past every policy."""
        with admin(self.database.admin_url) as connection:
            return connection.cursor(row_factory=dict_row).execute(statement.encode(), params).fetchall()

    def models(self) -> set[str | None]:
        """The models that the vectors of the bank's memories are of."""
        return {row["embedding_model"] for row in self.sql("SELECT embedding_model FROM hindsight.memory_units")}

    def serves(self) -> str | None:
        """The model that the bank says its vectors are of."""
        (row,) = self.sql("SELECT embedding_model FROM hindsight.banks")
        found: str | None = row["embedding_model"]
        return found

    def stored(self, text: str) -> str:
        """The vector of a text by the new model, as it is kept."""
        padded = str([*self.new.vector(text), *[0.0] * 128])
        (row,) = self.sql("SELECT %s::halfvec(512)::text AS vector", padded)
        found: str = row["vector"]
        return found

    def wake(self, operation: str) -> None:
        """The sweep wakes a worker for the operation."""
        self.services.noted.transfers.append((self.tenant, OperationId(UUID(operation)), 0))

    def beside(self) -> int:
        """How many vectors are kept beside those that serve."""
        (row,) = self.sql("SELECT count(*) AS vectors FROM hindsight.reembedded_vectors")
        return int(row["vectors"])


@pytest.fixture
def desk(database: Database, store: PostgresStore, tenant: TenantId) -> Desk:
    services = make_services(store, tenant)
    old, new = Watched(OLD), Watched(NEW, 384)
    old.others[NEW], new.others[OLD] = new, old
    services.__dict__["embedder"] = old
    return Desk(database, tenant, services, make_caller(services), old, new)


@pytest.fixture
def database_store(database: Database) -> Iterator[PostgresStore]:
    """A second connection: another worker."""
    other = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield other
    other.close()
