"""Retain over a real database with models that do as they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.retain import RetainItem, RetainPorts, RetainRequest, RetainResult, retain, submit
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.models import HashEmbedder, NotedWakeups, ScriptedModel
from tests.support.rows import SeesRows


@dataclass
class Workshop(SeesRows):
    """Retain's ports, with what tests look at."""

    database: Database
    tenant: TenantId
    store: PostgresStore
    model: ScriptedModel = field(default_factory=ScriptedModel)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    wakeups: NotedWakeups = field(default_factory=NotedWakeups)
    settings: Settings = field(default_factory=Settings)
    has_model: bool = True
    twins: list[Workshop] = field(default_factory=list)

    @property
    def ports(self) -> RetainPorts:
        model = self.model if self.has_model else None
        return RetainPorts(self.store, self.embedder, model, self.wakeups, SystemClock(), self.settings)

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant, "tester")

    def configure(self, **changed: object) -> None:
        """Replaces settings by their names."""
        self.settings = self.settings.model_copy(update=changed)

    def retain(self, *items: RetainItem, bank: str = "bank") -> RetainResult:
        return retain(self.ports, self.principal, bank, RetainRequest(items))

    def retain_as(self, *items: RetainItem, bank: str = "bank", **fields: Any) -> RetainResult:
        """The same with fields of the request, such as `operation_id`."""
        return retain(self.ports, self.principal, bank, RetainRequest(items, **fields))

    def submit(self, *items: RetainItem, bank: str = "bank", **fields: Any) -> RetainResult:
        return submit(self.ports, self.principal, bank, RetainRequest(items, **fields))

    def texts(self) -> list[str]:
        """The stored facts in the order of their documents."""
        order = "SELECT text FROM memory_units ORDER BY created_at, document_id, chunk_index, ordinal"
        return [row["text"] for row in self.rows(order)]

    def open_twin(self) -> Workshop:
        """The same place seen from another process: a connection of its own, closed with this one."""
        other = PostgresStore(lambda: self.database.write_url, connect_for_s=30.0)
        twin = replace(self, store=other, twins=[])
        self.twins.append(twin)
        return twin

    def deliver_all(self) -> None:
        """Hands every wake-up to a worker, those that it sends in turn included, whatever their delay."""
        while self.wakeups.operations:
            tenant_id, operation_id, _ = self.wakeups.operations.pop(0)
            self.deliver(tenant_id, operation_id)

    def deliver(self, tenant_id: TenantId, operation_id: OperationId, seconds: float = 60.0) -> Outcome:
        """Hands one wake-up to this worker."""
        body = json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)})
        return ingest(self.ports, body, seconds)


@pytest.fixture
def workshop(database: Database, tenant: TenantId, store: PostgresStore) -> Iterator[Workshop]:
    shop = Workshop(database, tenant, store)
    yield shop
    for twin in shop.twins:
        twin.store.close()


@pytest.fixture
def twin(workshop: Workshop) -> Workshop:
    """A second worker on the same database."""
    return workshop.open_twin()
