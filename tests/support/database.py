"""Fixtures: a migrated database of its own for each test that asks, cloned from one template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.migrator import migrate
from hindsight_aws.store.postgres import PostgresStore
from tests.support.server import throwaway_server

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Database:
    """One database: how each role reaches it."""

    socket: str
    name: str

    def url(self, role: str) -> str:
        return f"postgresql://{role}@/{self.name}?host={self.socket}"

    @property
    def admin_url(self) -> str:
        return self.url("postgres")

    @property
    def owner_url(self) -> str:
        return self.url("hindsight_owner")

    @property
    def write_url(self) -> str:
        return self.url("hindsight_write")

    @property
    def read_url(self) -> str:
        return self.url("hindsight_read")


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[str]:
    with throwaway_server() as folder:
        yield folder


@pytest.fixture(scope="session")
def database_template(postgres_socket: str) -> Database:
    template = Database(postgres_socket, "template_hindsight")
    with psycopg.connect(f"postgresql://postgres@/postgres?host={postgres_socket}", autocommit=True) as admin:
        admin.execute("CREATE DATABASE template_hindsight")
    migrate(template.admin_url)
    return template


def _clone(template: Database) -> Database:
    clone = Database(template.socket, f"test_{next(_numbers)}")
    with psycopg.connect(f"postgresql://postgres@/postgres?host={template.socket}", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {clone.name} TEMPLATE {template.name} STRATEGY wal_log".encode())
    return clone


def _drop(clone: Database) -> None:
    with psycopg.connect(f"postgresql://postgres@/postgres?host={clone.socket}", autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {clone.name} WITH (FORCE)".encode())


@pytest.fixture
def database(database_template: Database) -> Iterator[Database]:
    """A migrated, empty database for this test alone."""
    clone = _clone(database_template)
    yield clone
    _drop(clone)


@pytest.fixture(scope="module")
def module_database(database_template: Database) -> Iterator[Database]:
    """A migrated database that the tests of one module share."""
    clone = _clone(database_template)
    yield clone
    _drop(clone)


def make_tenant(database: Database, name: str = "acme") -> TenantId:
    """A new tenant of this database."""
    tenant_id = TenantId(uuid4())
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("INSERT INTO hindsight.tenants (tenant_id, name) VALUES (%s, %s)", (tenant_id, name))
    return tenant_id


@pytest.fixture
def tenant(database: Database) -> TenantId:
    return make_tenant(database)


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    """The store as functions that write see it."""
    store = PostgresStore(lambda: database.write_url, connect_for_s=2.0)
    yield store
    store.close()


@pytest.fixture
def read_store(database: Database) -> Iterator[PostgresStore]:
    """The store as the recall function sees it."""
    store = PostgresStore(lambda: database.read_url, connect_for_s=2.0)
    yield store
    store.close()
