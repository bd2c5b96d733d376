"""A bank with mental models, and the routes on it, for each test of this folder that asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_key
from tests.support.database import Database
from tests.support.refreshing import Garden, make_garden, ready
from tests.support.served_models import Served


@pytest.fixture
def garden(database: Database, store: PostgresStore, tenant: TenantId) -> Garden:
    return make_garden(database, store, tenant, ready())


@pytest.fixture
def served(database: Database, store: PostgresStore, tenant: TenantId) -> Served:
    return Served(database, store, tenant)


@pytest.fixture
def limited(database: Database, tenant: TenantId, served: Served) -> Iterator[Callable[..., Caller]]:
    """Makes callers whose keys may do less."""
    owner = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    yield lambda **limits: Caller(served.call.handler, make_key(owner, tenant, **limits))
    owner.close()
