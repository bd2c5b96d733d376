"""Transfers over a real database, with the bucket in memory and the worker called by hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from psycopg.rows import dict_row

from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.scope import Scope
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.seed import Seeded, seed_bank

Rows = list[dict[str, Any]]
_SETTINGS = (
    '{"retain_mission":  "Keep \\u00e4ll", "consolidation_strategies":[ {"scopes": [{"tags": ["a:*"]}] ,'
    ' "observations_mission":"M"}]}'
)
"""As no program of ours writes them."""


@dataclass
class Ferry:
    """A caller, the worker behind them, and what tests look at."""

    database: Database
    tenant: TenantId
    services: FakeRuntime
    call: Caller

    def post(self, bank: str, path: str, archive: bytes | None = None, /, **query: object) -> Answer:
        """POST under the bank, with the archive as a form's file."""
        url = f"/v1/default/banks/{bank}{path}" + (f"?{urlencode(query)}" if query else "")
        if archive is None:
            return self.call("POST", url)
        built = httpx.Request("POST", "https://api.example", files={"file": ("a.zip", archive, "application/zip")})
        return self.call("POST", url, raw=built.read(), headers={"content-type": built.headers["content-type"]})

    def work(self, seconds: float = 60.0) -> None:
        """What the queue would have the worker do, until nothing is left."""
        noted = self.services.noted.transfers
        while noted:
            tenant_id, operation_id, _ = noted.pop(0)
            body = json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)})
            transfer(self.services.transfer_ports, body, seconds)

    def done(self, bank: str, answer: Answer) -> dict[str, Any]:
        """The operation that was accepted, after the worker was at it."""
        assert answer.status == 202, answer.body
        assert answer.json()["status"] == "pending"
        self.work()
        return self.operation(bank, answer.json()["operation_id"])

    def operation(self, bank: str, operation_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/v1/default/banks/{bank}/operations/{operation_id}").json()
        return found

    def exported(self, bank: str, **query: object) -> bytes:
        """The archive of an export that went well."""
        ended = self.done(bank, self.post(bank, "/transfer/export", **{"include_history": True, **query}))
        assert ended["status"] == "completed", ended
        return self.services.stored.objects[ended["result_metadata"]["storage_key"]]

    def sql(self, statement: str, *params: object) -> Rows:
        """Rows past every policy."""
        with admin(self.database.admin_url) as connection:
            return connection.cursor(row_factory=dict_row).execute(statement.encode(), params).fetchall()

    def banks(self) -> list[str]:
        """Every bank there is, those in the making too."""
        return [row["external_id"] for row in self.sql("SELECT external_id FROM hindsight.banks ORDER BY 1")]


@pytest.fixture
def ferry(database: Database, store: PostgresStore, tenant: TenantId) -> Ferry:
    services = make_services(store, tenant)
    return Ferry(database, tenant, services, make_caller(services))


@pytest.fixture
def seeded(ferry: Ferry) -> Seeded:
    """A bank `source` with one of everything."""
    made = seed_bank(ferry.database, ferry.tenant, "source", "Xanthippe")
    with admin(ferry.database.admin_url) as connection:
        model = ferry.services.embedder.model
        connection.execute("UPDATE banks SET embedding_model = %s", (model,))
        connection.execute("UPDATE memory_units SET embedding_model = %s", (model,))
        connection.execute("UPDATE scopes SET scope_key = %s", (Scope.of(("user:a",)).key,))
    enrich(ferry, made)
    return made


def members(archive: bytes) -> dict[str, Rows]:
    """The rows of an archive by the name of their member."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {
            name.removesuffix(".jsonl"): [json.loads(line) for line in opened.read(name).splitlines()]
            for name in opened.namelist()
            if name != "manifest.json"
        }


def manifest(archive: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        found: dict[str, Any] = json.loads(opened.read("manifest.json"))
        return found


def forged(archive: bytes, changed: Mapping[str, bytes], **told: object) -> bytes:
    """The archive with other members, its manifest made to agree with them, and with what else it is `told`."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        held = {name: opened.read(name) for name in opened.namelist() if name != "manifest.json"} | dict(changed)
    said = manifest(archive) | told
    said["members"] = {
        name: {"rows": body.count(b"\n"), "bytes": len(body), "sha256": sha256(body).hexdigest()}
        for name, body in held.items()
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, body in held.items():
            target.writestr(name, body)
        target.writestr("manifest.json", json.dumps(said))
    return made.getvalue()


def lines(rows: Rows) -> bytes:
    """Rows as a member."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def enrich(ferry: Ferry, seeded: Seeded) -> None:
    """Settings as a person wrote them, and facts of two people."""
    with admin(ferry.database.admin_url) as connection:
        connection.execute("UPDATE banks SET config = %s WHERE bank_id = %s", (_SETTINGS, seeded.bank_id))
        connection.execute(
            "WITH shared AS (UPDATE memory_units SET tags = '{user:a,user:b}' "
            "WHERE bank_id = %s AND text LIKE '%% fact %%' RETURNING tenant_id, bank_id, id) "
            "INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id) "
            "SELECT tenant_id, bank_id, 'user:b', id FROM shared",
            (seeded.bank_id,),
        )
