"""Work under one id of the caller's is done once and answered the same, sync or async, alone or in a crowd."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from hindsight_aws.errors import Conflict, ModelRefused
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem, RetainRequest, RetainResult, retain, submit
from tests.integration.retain.conftest import Workshop
from tests.support.database import Database, make_tenant
from tests.support.models import one_fact_per_line

Send = Callable[[Workshop, UUID, str], RetainResult]


def _sync(workshop: Workshop, mine: UUID, text: str = "Once.") -> RetainResult:
    return workshop.retain_as(RetainItem(text), operation_id=mine)


def _async(workshop: Workshop, mine: UUID, text: str = "Once.") -> RetainResult:
    return workshop.submit(RetainItem(text), operation_id=mine)


WAYS = pytest.mark.parametrize("send", [_sync, _async], ids=["sync", "async"])


def _same(results: list[RetainResult]) -> bool:
    return all(result == results[0] for result in results)


@WAYS
def test_five_at_once_are_one_operation_and_five_equal_answers(workshop: Workshop, send: Send) -> None:
    """[R108]."""
    mine = uuid4()
    workers = [workshop, *(workshop.open_twin() for _ in range(4))]

    with ThreadPoolExecutor(5) as pool:
        results = list(pool.map(lambda worker: send(worker, mine, "Once."), workers))
    workshop.deliver_all()

    assert _same(results)
    assert results[0].operation_id == mine
    assert workshop.texts() == ["Once."]
    assert len(workshop.model.calls) == 1
    parents = workshop.rows("SELECT operation_id FROM operations WHERE parent_id IS NULL")
    assert parents == [{"operation_id": mine}]


@WAYS
def test_what_a_repetition_holds_is_not_looked_at(workshop: Workshop, send: Send) -> None:
    mine = uuid4()
    first = send(workshop, mine, "Once.")
    workshop.deliver_all()

    second = send(workshop, mine, "Something else.")
    workshop.deliver_all()

    assert second == first
    assert workshop.texts() == ["Once."]


def test_a_repetition_is_told_what_was_used_and_stored(workshop: Workshop) -> None:
    mine = uuid4()

    first, second = _sync(workshop, mine, "One.\nTwo."), _sync(workshop, mine)

    assert first == second
    assert (first.is_async, first.items_count) == (False, 1)
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens) == (100, 20)
    assert first.items is not None
    assert [item.memories_count for item in first.items] == [2]


def test_a_repetition_waits_for_the_first_and_asks_no_model(workshop: Workshop, twin: Workshop) -> None:
    mine, begun, go_on = uuid4(), Event(), Event()

    def slow(call: ModelCall) -> Any:
        begun.set()
        assert go_on.wait(60)
        return one_fact_per_line(call)

    workshop.model.script = slow
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_sync, workshop, mine)
        assert begun.wait(60)
        second = pool.submit(_sync, twin, mine)
        go_on.set()
        results = [first.result(60), second.result(60)]

    assert _same(results)
    assert len(workshop.model.calls) == 1


def test_a_failure_is_answered_again_and_the_work_not_repeated(workshop: Workshop) -> None:
    mine = uuid4()
    workshop.model.script = lambda _call: ModelRefused("not this")

    said = []
    for _ in range(2):
        with pytest.raises(ModelRefused) as told:
            _sync(workshop, mine)
        said.append(str(told.value))

    assert said[0] == said[1] == "items[0].content: not this"
    assert len(workshop.model.calls) == 1


def test_what_was_begun_async_may_be_waited_for(workshop: Workshop) -> None:
    mine = uuid4()
    _async(workshop, mine)
    workshop.deliver_all()

    waited = _sync(workshop, mine)

    assert (waited.is_async, waited.operation_id) == (False, mine)
    assert waited.usage is not None
    assert waited.usage.total_tokens == 120
    assert workshop.texts() == ["Once."]


def test_what_was_begun_sync_and_handed_over_is_not_begun_again(workshop: Workshop) -> None:
    mine = uuid4()
    workshop.configure(hindsight_retain_sync_seconds=0.01)
    handed = _sync(workshop, mine)
    assert handed.is_async

    again = _async(workshop, mine)
    workshop.deliver_all()

    assert again.operation_id == mine
    assert again.watermark == handed.watermark
    assert workshop.texts() == ["Once."]


@WAYS
def test_an_id_in_use_elsewhere_is_a_conflict(workshop: Workshop, send: Send) -> None:
    mine = uuid4()
    send(workshop, mine, "Once.")
    child = workshop.submit(RetainItem("x")).operation_id
    (part,) = workshop.rows("SELECT operation_id FROM operations WHERE parent_id = %s", child)
    for way in (retain, submit):
        for bank, taken in (("other", mine), ("bank", part["operation_id"])):
            with pytest.raises(Conflict, match=f"operation_id {taken} is already in use"):
                way(workshop.ports, workshop.principal, bank, RetainRequest((RetainItem("x"),), operation_id=taken))

    assert [row["external_id"] for row in workshop.rows("SELECT external_id FROM banks")] == ["bank"]


@WAYS
def test_an_id_of_another_kind_is_a_conflict(workshop: Workshop, send: Send) -> None:
    mine = uuid4()
    workshop.retain(RetainItem("x"))
    workshop.change(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject) "
        "SELECT tenant_id, bank_id, %s, 'consolidation', 'tester' FROM banks", mine,
    )  # fmt: skip

    with pytest.raises(Conflict, match="already in use"):
        send(workshop, mine, "Once.")


@WAYS
def test_a_key_that_sees_part_of_a_bank_is_not_given_anothers_outcome(workshop: Workshop, send: Send) -> None:
    mine = uuid4()
    send(workshop, mine, "Once.")
    limited = Principal(workshop.tenant, "somebody else", forced_tags=TagLeaf(frozenset({"a"})))
    request = RetainRequest((RetainItem("x", tags=("a",)),), operation_id=mine)

    for way in (retain, submit):
        with pytest.raises(Conflict, match="already in use"):
            way(workshop.ports, limited, "bank", request)


@WAYS
def test_the_same_id_of_two_tenants_is_two_operations(workshop: Workshop, database: Database, send: Send) -> None:
    """[R109]."""
    mine = uuid4()
    other = Workshop(database, make_tenant(database, "other"), workshop.store, workshop.model)

    results = [send(each, mine, text) for each, text in ((workshop, "Ours."), (other, "Theirs."))]
    for each in (workshop, other):
        each.deliver_all()

    assert [result.operation_id for result in results] == [mine, mine]
    assert _facts_by_tenant(database, workshop.tenant) == ["Ours."]
    assert _facts_by_tenant(database, other.tenant) == ["Theirs."]


def _facts_by_tenant(database: Database, tenant: TenantId) -> list[str]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute("SELECT text FROM hindsight.memory_units WHERE tenant_id = %s", (tenant,)).fetchall()
    return [row[0] for row in rows]
