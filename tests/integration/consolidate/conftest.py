"""Consolidation on a real database: a workshop, and the API over the same bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, call, make_key, services
from tests.support.consolidation import Workshop
from tests.support.database import Database

__all__ = ["call", "services"]


@pytest.fixture
def workshop(database: Database, tenant: TenantId, store: PostgresStore) -> Workshop:
    """The bank that callers know as `bank`."""
    return Workshop(database, tenant, store)


@pytest.fixture
def limited(database: Database, tenant: TenantId, call: Caller) -> Iterator[Callable[..., Caller]]:
    """Makes callers whose keys may do less."""
    url = f"{database.owner_url}&options=-csearch_path%3Dhindsight,public"
    owner = PostgresStore(lambda: url, connect_for_s=30.0)
    yield lambda **limits: Caller(call.handler, make_key(owner, tenant, **limits))
    owner.close()
