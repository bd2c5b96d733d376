"""What a retain that comes while its scope is being consolidated sets going."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import pytest

from hindsight_aws.consolidate.drain import Drained, drain
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import RetainItem, RetainPorts, RetainRequest, retain
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop
from tests.support.database import Database
from tests.support.models import NotedWakeups, block


@pytest.fixture
def workshop(database: Database, tenant: TenantId, store: PostgresStore) -> Workshop:
    return Workshop(database, tenant, store)


@pytest.fixture
def other_store(database: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield opened
    opened.close()


def test_a_retain_while_its_scope_is_consolidated_yields_exactly_one_further_run(
    workshop: Workshop, other_store: PostgresStore
) -> None:
    """Cases [R120], [C032]. However often it is woken meanwhile."""
    workshop.remember("Ada rows on the lake.")
    wakeups, elsewhere = NotedWakeups(), copy(workshop)
    elsewhere.store = other_store
    ports = RetainPorts(other_store, workshop.embedder, None, wakeups, workshop.clock, workshop.settings)

    def retain_meanwhile(call: ModelCall) -> JsonObject:
        if len(workshop.model.calls) == 1:
            item = RetainItem("Bo repairs bicycles.", timestamp="unset")
            retain(ports, Principal(workshop.tenant, "test"), "bank", RetainRequest((item,)))
            for tenant_id, bank_id, scope_id in wakeups.scopes * 3:
                where = ScopeAddress(tenant_id, bank_id, scope_id)
                assert drain(elsewhere.ports, where, lambda: 900.0) is Drained.HELD
        return {"creates": [{"text": shown["text"], "source_fact_ids": [shown["id"]]} for shown in _facts(call)]}

    workshop.answers(retain_meanwhile)

    assert workshop.drain() is Drained.DONE

    assert len(wakeups.scopes) == 1
    shown = [[fact["text"] for fact in _facts(call)] for call in workshop.model.asked("consolidate")]
    assert shown == [["Ada rows on the lake."], ["Bo repairs bicycles."]]
    assert [len(workshop.sql("SELECT * FROM consolidation_runs")), len(workshop.observations())] == [2, 2]
    assert {state for states in workshop.work().values() for state in states} == {("done", "created")}


def _facts(call: ModelCall) -> list[JsonObject]:
    shown: object = block(call, "facts")
    assert isinstance(shown, list)
    return shown
