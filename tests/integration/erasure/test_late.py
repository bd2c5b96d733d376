"""What comes too late for an erased bank: messages find nothing to do, and workers in mid-run write nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from hindsight_aws.erasure import carry_on, erase_bank, erase_tags
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.convert import convert
from hindsight_aws.jobs.deliver import deliver
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.links import tend_links
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.api import Caller, FakeRuntime
from tests.support.database import Database
from tests.support.erasing import erasure_ports, tables_with
from tests.support.models import one_fact_per_line
from tests.support.seed import seed_bank

BANK = "/v1/default/banks/b"
MARK = "Xanthippe"
Eraser = Callable[[], object]


class Killed(BaseException):
    """The worker died here."""


@pytest.fixture
def other(database: Database) -> Iterator[PostgresStore]:
    """The store of another process."""
    store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield store
    store.close()


@pytest.fixture
def principal(tenant: TenantId) -> Principal:
    return Principal(tenant, "tester")


@pytest.fixture(params=["bank", "slice-by-slice", "tag"])
def erase(request: pytest.FixtureRequest, other: PostgresStore, principal: Principal) -> Eraser:
    """Each way in which what is written about can be erased meanwhile."""
    ports = erasure_ports(other)
    if request.param == "tag":
        return lambda: erase_tags(ports, principal, "b", ["user:a"], "any")
    return lambda: erase_bank(ports, principal, "b", 0 if request.param == "slice-by-slice" else 20_000)


def test_a_message_that_comes_late_finds_nothing_to_do(
    database: Database, services: FakeRuntime, call: Caller, erase: Eraser
) -> None:
    _retain(call)
    (tenant_id, operation_id, _) = services.noted.operations[-1]
    bank_id = _bank_id(services, tenant_id)
    erase()
    _retain(call, "Yorick grows pears.", "user:b")

    ids = {"tenant_id": str(tenant_id), "bank_id": str(bank_id)}
    ended = [
        ingest(services.retain_ports, json.dumps(ids | {"operation_id": str(operation_id)}), 30.0),
        convert(services.conversion_ports, json.dumps(ids | {"operation_id": str(operation_id)}), 30.0),
        consolidate(
            services.consolidation_ports,
            json.dumps(ids | {"scope_id": str(uuid4())}),
            lambda: 30.0,
            services.pages_door,
        ),
        consolidate(
            services.consolidation_ports, json.dumps(ids | {"kind": "refreshes"}), lambda: 30.0, services.pages_door
        ),
        tend_links(services.link_ports, json.dumps(ids | {"kind": "links"}), lambda: 30.0),
        transfer(services.transfer_ports, json.dumps(ids | {"operation_id": str(operation_id)}), 30.0),
        deliver(services.deliver_ports, json.dumps(ids | {"kind": "events"})),
        deliver(services.deliver_ports, json.dumps(ids | {"kind": "delivery", "delivery_id": str(uuid4())})),
    ]

    assert set(ended) == {Outcome.DONE}
    assert services.model.calls == []
    assert tables_with(database, tenant_id, MARK) == set()


def test_a_retain_whose_bank_or_tag_is_erased_while_its_model_is_asked_writes_nothing(
    database: Database, services: FakeRuntime, call: Caller, erase: Eraser
) -> None:
    _retain(call)
    (tenant_id, operation_id, _) = services.noted.operations[-1]

    def erases_meanwhile(asked: ModelCall) -> JsonObject:
        erase()
        _retain(call, "Yorick grows pears.", "user:b")
        return one_fact_per_line(asked)

    services.model.script = erases_meanwhile
    body = json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)})
    first = ingest(services.retain_ports, body, 30.0)
    services.model.script = one_fact_per_line
    second = ingest(services.retain_ports, body, 30.0)

    assert (first, second) == (Outcome.DONE, Outcome.DONE)
    assert tables_with(database, tenant_id, MARK) == set()
    assert call("GET", f"{BANK}/memories/list").json()["total"] == 0


def test_a_drain_whose_fact_is_erased_while_its_model_is_asked_believes_nothing(
    database: Database, services: FakeRuntime, call: Caller, erase: Eraser
) -> None:
    _retain(call)
    (tenant_id, operation_id, _) = services.noted.operations[-1]
    bank_id = _bank_id(services, tenant_id)
    ingest(services.retain_ports, json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)}), 30.0)
    (_, _, scope_id) = services.noted.scopes[-1]
    asked: list[ModelCall] = []

    def erases_meanwhile(told: ModelCall) -> JsonObject:
        asked.append(told)
        erase()
        return {"creates": [], "updates": [], "deletes": [], "skipped": []}

    services.model.script = erases_meanwhile
    ids = {"tenant_id": str(tenant_id), "bank_id": str(bank_id), "scope_id": str(scope_id)}
    ended = consolidate(services.consolidation_ports, json.dumps(ids), lambda: 300.0, services.pages_door)

    assert ended is Outcome.DONE
    assert len(asked) == 1
    assert tables_with(database, tenant_id, MARK) == set()


def test_an_erasure_whose_worker_died_between_any_two_parts_goes_on(
    database: Database, store: PostgresStore, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    ports = erasure_ports(store)
    deaths = 0

    def dies(_point: str) -> None:
        raise Killed

    monkeypatch.setattr("hindsight_aws.erasure.carry.reached", dies)
    with pytest.raises(Killed):
        erase_tags(ports, principal, "b", ["user:a"], "any")
    with store.transaction(principal.tenant_id) as tx:
        page = tx.erasures.page(None, 10, 0)
    erasure_id = next(each.erasure_id for each in page.items if each.tags == ("user:a",))
    for _ in range(20):
        with admin(database.admin_url) as connection:
            connection.execute("UPDATE erasures SET lease_until = '-infinity'")
        try:
            carry_on(ports, principal.tenant_id, erasure_id, 10.0)
        except Killed:
            deaths += 1
        else:
            break

    with store.transaction(principal.tenant_id) as tx:
        found = tx.erasures.find(erasure_id)
    assert deaths > 2
    assert found is not None
    assert (found.state, found.erased["documents"], found.erased["memory_units"]) == ("objects", 1, 7)
    assert seeded.bank_id == found.bank_id


def _retain(call: Caller, text: str = f"{MARK} keeps bees.", tag: str = "user:a") -> None:
    items = [{"content": text, "tags": [tag], "document_id": f"doc/{text[:4]}"}]
    assert call("POST", f"{BANK}/memories", {"items": items, "async": True}).status == 200


def _bank_id(services: FakeRuntime, tenant_id: TenantId) -> BankId:
    with services.store.transaction(tenant_id) as tx:
        found = tx.banks.find("b")
    assert found is not None
    return found.bank_id
