"""Mental models and the routes on them, for the knowledge base that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_key
from tests.support.database import Database
from tests.support.knowledge import Shelf


@pytest.fixture
def shelf(database: Database, store: PostgresStore, tenant: TenantId) -> Shelf:
    return Shelf(database, store, tenant)


@pytest.fixture
def limited(database: Database, tenant: TenantId, shelf: Shelf) -> Iterator[Callable[..., Caller]]:
    """Makes callers whose keys may do less."""
    owner = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    yield lambda **limits: Caller(shelf.call.handler, make_key(owner, tenant, **limits))
    owner.close()
