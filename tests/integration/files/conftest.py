"""Files over a real database, with bytes in memory and a converter that does as it is told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from hindsight_aws.files import ConversionPorts
from hindsight_aws.jobs.convert import convert
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.files import MemoryFiles, PlainConverter, send_files, upload
from tests.support.models import ScriptedModel
from tests.support.rows import SeesRows

BANK = "shelf"


@dataclass
class Desk(SeesRows):
    """A caller, the workers behind them, and what tests look at."""

    database: Database
    tenant: TenantId
    services: FakeRuntime
    call: Caller
    converter: PlainConverter = field(default_factory=PlainConverter)

    @property
    def files(self) -> MemoryFiles:
        return self.services.stored

    @property
    def model(self) -> ScriptedModel:
        return self.services.model

    @property
    def ports(self) -> ConversionPorts:
        return ConversionPorts(self.services.retain_ports, self.files, self.converter)

    def send(self, *files: tuple[str, bytes], **request: Any) -> Answer:
        return send_files(self.call, BANK, files, request)

    def sent(self, *files: tuple[str, bytes], **request: Any) -> list[str]:
        """The operations of files that were taken."""
        answer = self.send(*files, **request)
        assert answer.status == 200, answer.body
        return list(answer.json()["operation_ids"])

    def uploaded(self, name: str, body: bytes) -> str:
        return upload(self.call, self.files, BANK, name, body)

    def deliver(self, operation_id: str, ports: ConversionPorts | None = None, seconds: float = 60.0) -> Outcome:
        """Hands one wake-up to a convert worker."""
        return convert(ports or self.ports, self.message(OperationId(operation_id)), seconds)  # type: ignore[arg-type]  # text serves

    def message(self, operation_id: OperationId) -> str:
        return json.dumps({"tenant_id": str(self.tenant), "operation_id": str(operation_id)})

    def deliver_all(self) -> None:
        """Hands every wake-up to a worker until none is left, whatever its delay."""
        noted = self.services.noted
        while noted.conversions or noted.operations:
            if noted.conversions:
                convert(self.ports, self.message(noted.conversions.pop(0)[1]), 60.0)
            else:
                ingest(self.services.retain_ports, self.message(noted.operations.pop(0)[1]), 60.0)

    def operation(self, operation_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/v1/default/banks/{BANK}/operations/{operation_id}")
        return dict(answer.json())

    def documents(self) -> dict[str, str]:
        """The stored documents' texts, by their ids."""
        rows = self.rows("SELECT external_id, original_text FROM documents WHERE NOT is_pending")
        return {row["external_id"]: row["original_text"] for row in rows}

    def reconfigured(self, **settings: object) -> Desk:
        """The same desk with other settings."""
        services = make_services(self.services.store, self.tenant, **settings)
        return Desk(self.database, self.tenant, services, make_caller(services))


@pytest.fixture
def desk(database: Database, tenant: TenantId, store: PostgresStore) -> Desk:
    services = make_services(store, tenant, hindsight_api_llm_provider="none")
    services.__dict__["text_model"] = None
    made = Desk(database, tenant, services, make_caller(services))
    assert made.call("PUT", f"/v1/default/banks/{BANK}", {}).status == 200
    return made
