"""The API in this process: payload-v2 events into the very handler that Lambda calls, and its answers out."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest
from fastapi import FastAPI

from hindsight_aws.api.app import GROUPS, create_app
from hindsight_aws.api.gateway import LambdaAnswer, LambdaEvent, LambdaHandler, lambda_handler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey, Permission
from hindsight_aws.reflect.ports import ReflectDoor
from hindsight_aws.runtime import Runtime
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.tenants.keys import create_key
from tests.support.database import Database, make_tenant
from tests.support.files import MemoryFiles
from tests.support.models import HashEmbedder, NotedWakeups, ScriptedModel

UNSET = object()
_apps: dict[tuple[frozenset[str], int], FastAPI] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller gets."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class NoWorkflows:
    """Workflows that nobody runs."""

    def start_reflect(self, tenant_id: TenantId, bank_id: UUID, run_id: UUID) -> None:
        """Starts nothing."""


class FakeRuntime(Runtime):
    """The product's own composition root, on a test's store and with models that do as they are told."""

    def __init__(self, store: PostgresStore, settings: Settings) -> None:
        super().__init__(settings)
        self.model = ScriptedModel()
        self.probed = ScriptedModel(lambda _call: {"action": "keep"})
        self.noted = NotedWakeups()
        self.stored = MemoryFiles()
        self.__dict__.update(
            store=store,
            embedder=HashEmbedder(),
            text_model=self.model,
            probed_model=self.probed,
            wakeups=self.noted,
            file_store=self.stored,
            reranker=None,
            reflect_door=ReflectDoor(store, NoWorkflows(), settings, self.clock),
        )


@dataclass(slots=True)
class Caller:
    """Sends requests as a client with one key would, through the Lambda handler."""

    handler: LambdaHandler
    key: str | None = None

    def __call__(
        self,
        method: str,
        path: str,
        body: object = UNSET,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        sent = {"host": "api.example", "accept": "application/json", "content-type": "application/json"}
        if self.key is not None:
            sent["authorization"] = f"Bearer {self.key}"
        sent.update(headers or {})
        payload = raw if raw is not None else b"" if body is UNSET else json.dumps(body).encode()
        return _answer(self.handler(payload_v2(method, path, sent, payload), None))


def payload_v2(method: str, target: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """The event of a Function URL: the path is percent-encoded still."""
    parts = urlsplit(target)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": parts.path,
        "rawQueryString": parts.query,
        "headers": dict(headers),
        "queryStringParameters": dict(parse_qsl(parts.query, keep_blank_values=True)),
        "requestContext": {
            "domainName": "abc.lambda-url.eu-central-1.on.aws",
            "http": {"method": method, "path": parts.path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
        },
        "isBase64Encoded": False,
    }
    if body:
        event["body"], event["isBase64Encoded"] = base64.b64encode(body).decode(), True
    return event


def _answer(answer: Mapping[str, Any]) -> Answer:
    body = answer.get("body", "")
    raw = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    headers = dict(answer.get("headers", {}))
    if headers.get("content-encoding") == "gzip":
        raw = gzip.decompress(raw)
    return Answer(answer["statusCode"], headers, raw)


def make_services(store: PostgresStore, tenant_id: UUID | None, **settings: object) -> FakeRuntime:
    """Services on a store; calls without a key belong to `tenant_id`."""
    values = {
        "hindsight_environment": "local",
        "hindsight_database_url": "postgresql://127.0.0.1/test",
        "hindsight_dev_tenant": tenant_id,
        "hindsight_bucket": "files",
        **settings,
    }
    return FakeRuntime(store, Settings(**values))  # type: ignore[arg-type]  # a test names any setting


def make_caller(services: FakeRuntime, key: str | None = None, groups: frozenset[str] = frozenset(GROUPS)) -> Caller:
    """A client of an app with these services."""
    app = app_of(groups, services)
    handler = lambda_handler(app, is_local=True)

    def serve(event: LambdaEvent, context: object) -> LambdaAnswer:
        app.state.services = services
        return handler(event, context)

    return Caller(serve, key)


def app_of(groups: frozenset[str], services: FakeRuntime) -> FastAPI:
    """The process's one app of these groups: its routes are analysed when they are first asked for, 50 ms each time.

    All that an app knows of its services when it is made is the size from which answers are compressed.
    """
    known = groups, services.settings.hindsight_api_gzip_min_size
    if known not in _apps:
        _apps[known] = create_app(groups, services)
    return _apps[known]


@pytest.fixture
def services(store: PostgresStore, tenant: TenantId) -> FakeRuntime:
    return make_services(store, tenant)


@pytest.fixture
def call(services: FakeRuntime) -> Caller:
    """A client of the dev tenant, on a database of this test alone."""
    return make_caller(services)


@pytest.fixture(scope="module")
def module_store(module_database: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(lambda: module_database.write_url, connect_for_s=30.0)
    yield store
    store.close()


@pytest.fixture(scope="module")
def owner_store(module_database: Database) -> Iterator[PostgresStore]:
    """The store as whoever administers the database sees it: it alone can make keys."""
    url = f"{module_database.owner_url}&options=-csearch_path%3Dhindsight,public"
    store = PostgresStore(lambda: url, connect_for_s=30.0)
    yield store
    store.close()


@pytest.fixture(scope="module")
def handler(module_store: PostgresStore) -> LambdaHandler:
    """The API of the module's database; it serves nobody without a key."""
    return make_caller(make_services(module_store, None)).handler


def make_key(owner_store: PostgresStore, tenant_id: TenantId, **limits: Any) -> str:
    """A key of the tenant with every permission, but for the limits; its token."""
    key = NewKey(**{"subject": "tester", "permissions": frozenset(Permission), **limits})
    return create_key(owner_store, tenant_id, key, None, datetime.now(UTC)).token


@pytest.fixture(scope="module")
def module_tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)
