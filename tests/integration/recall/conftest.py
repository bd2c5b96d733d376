"""A caller before one empty bank of a database of its own."""

from __future__ import annotations

import pytest

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.retain.conftest import workshop
from tests.support.api import call, services
from tests.support.database import Database
from tests.support.recalling import Asking
from tests.support.units import make_bank

__all__ = ["call", "services", "workshop"]


@pytest.fixture
def bank(database: Database, tenant: TenantId) -> BankId:
    return make_bank(database.admin_url, tenant)


@pytest.fixture
def asking(read_store: PostgresStore, tenant: TenantId) -> Asking:
    """As the recall function asks: with the role that reads."""
    return Asking(read_store, tenant, Principal(tenant, "me"))
