"""Fixtures: a migrated, empty database for each test or module that asks; clones of one template."""

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
from infra.local.postgres import clone_database, create_database, drop_database
from tests.support.admin import admin, changing, keep, let_go
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
    def server_url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.socket}"

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
    create_database(template.server_url, template.name)
    migrate(template.admin_url)
    return template


def _clone(template: Database) -> Database:
    clone = Database(template.socket, f"test_{next(_numbers)}")
    clone_database(template.server_url, template.name, clone.name)
    return clone


@pytest.fixture(scope="session")
def _shared_database(database_template: Database) -> Iterator[Database]:
    clone = _clone(database_template)
    keep(clone.admin_url)
    yield clone
    let_go(clone.admin_url)


@pytest.fixture
def database(_shared_database: Database) -> Iterator[Database]:
    """A migrated, empty database, this test's alone; emptied afterwards, which takes less than a clone."""
    yield _shared_database
    _empty(_shared_database)


def _empty(database: Database) -> None:
    """Ends whatever is still connected, and takes every tenant out with all that is theirs."""
    with changing(database.admin_url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DELETE FROM tenants")


@pytest.fixture
def fresh_vector_indexes(database: Database) -> None:
    """Takes what earlier tests left out of the shared database's vector indexes.

    A search goes from row to row there, and dozens of dead ones with one vector can keep it from those that are alive.
    """
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        connection.execute("VACUUM hindsight.memory_units, hindsight.reembedded_vectors")


@pytest.fixture(scope="module")
def module_database(database_template: Database) -> Iterator[Database]:
    """A migrated database that the tests of one module share."""
    clone = _clone(database_template)
    keep(clone.admin_url)
    yield clone
    let_go(clone.admin_url)
    drop_database(clone.server_url, clone.name)


def make_tenant(database: Database, name: str = "acme") -> TenantId:
    """A new tenant of this database."""
    tenant_id = TenantId(uuid4())
    with admin(database.admin_url) as connection:
        connection.execute("INSERT INTO tenants (tenant_id, name) VALUES (%s, %s)", (tenant_id, name))
    return tenant_id


@pytest.fixture
def tenant(database: Database) -> TenantId:
    return make_tenant(database)


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    """The store as functions that write see it."""
    store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield store
    store.close()


@pytest.fixture
def read_store(database: Database) -> Iterator[PostgresStore]:
    """The store as the recall function sees it."""
    store = PostgresStore(lambda: database.read_url, connect_for_s=30.0)
    yield store
    store.close()
