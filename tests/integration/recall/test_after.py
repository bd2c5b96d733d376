"""A recall that names a write says what became of it, and waits for it when asked to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from hindsight_aws.errors import InvalidField, ModelRefused, NotFound
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.model.watermark import WriteState, read_watermark, watermark
from hindsight_aws.recall.awaited import awaited
from hindsight_aws.recall.deadline import Deadline
from hindsight_aws.recall.request import After
from hindsight_aws.retain import RetainItem
from tests.integration.retain.conftest import Workshop
from tests.support.admin import changing
from tests.support.api import Caller, FakeRuntime, make_caller
from tests.support.database import Database, make_tenant

_BANK = "/v1/default/banks/bank"


def _after(token: str | None, **waiting: object) -> After:
    assert token is not None
    return replace(After(read_watermark(token)), **waiting)  # type: ignore[arg-type]  # names of an After


def _look(
    workshop: Workshop,
    after: After,
    sleep: Callable[[float], None] | None = None,
    principal: Principal | None = None,
    bank: str = "bank",
) -> WriteState:
    return awaited(workshop.store, principal or workshop.principal, bank, after, sleep=sleep or _unslept)


def _unslept(_seconds: float) -> None:
    raise AssertionError("nothing was to be waited for")


def test_a_sync_write_is_visible_and_consolidated_once_it_is(
    call: Caller, services: FakeRuntime, database: Database
) -> None:
    token = call("POST", f"{_BANK}/memories", {"items": [{"content": "The kettle is blue."}]}).json()["watermark"]
    asked = {"query": "kettle", "after": token}

    first = call("POST", f"{_BANK}/memories/recall", asked).json()
    _consolidate(database)
    then = call("POST", f"{_BANK}/memories/recall", asked).json()

    assert first["after"] == {"visible": True, "consolidated": False, "failed": False, "consolidation_failed": False}
    assert then["after"] == {"visible": True, "consolidated": True, "failed": False, "consolidation_failed": False}
    assert [result["text"] for result in first["results"]] == ["The kettle is blue."]
    assert "after" not in call("POST", f"{_BANK}/memories/recall", {"query": "kettle"}).json()


def _consolidate(database: Database, state: str = "done") -> None:
    with changing(database.admin_url) as connection:
        connection.execute("UPDATE consolidation_work SET state = %s, done_at = now(), failed_at = now()", (state,))


def test_an_async_write_is_waited_for_until_it_is_there(workshop: Workshop) -> None:
    after = _after(workshop.submit(RetainItem("The kettle is blue.")).watermark)
    paused: list[float] = []

    def until_it_is_there(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 3:
            workshop.deliver_all()

    before = _look(workshop, after)
    found = _look(workshop, replace(after, wait_ms=20_000), until_it_is_there)

    assert not before.is_visible
    assert found.is_visible
    assert paused == sorted(paused)
    assert len(paused) == 3


@pytest.mark.parametrize("wait_for", ["visible", "consolidated"])
def test_waiting_ends_with_its_bound_whatever_is_missing(workshop: Workshop, wait_for: str) -> None:
    """Of a deadline's time half is left for looking."""
    after = _after(workshop.submit(RetainItem("The kettle is blue.")).watermark, wait_ms=20_000, wait_for=wait_for)
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    found = awaited(workshop.store, workshop.principal, "bank", after, sleep=sleep, clock=lambda: now[0])
    waited = now[0]
    awaited(
        workshop.store,
        workshop.principal,
        "bank",
        after,
        Deadline(1_000, lambda: 0.0),
        sleep=sleep,
        clock=lambda: now[0],
    )

    assert not found.is_visible
    assert waited == pytest.approx(20)
    assert now[0] - waited == pytest.approx(0.4)


def test_a_write_that_failed_is_not_waited_for(workshop: Workshop) -> None:
    workshop.model.script = lambda _call: ModelRefused("no")
    after = _after(workshop.submit(RetainItem("The kettle is blue.")).watermark, wait_ms=20_000)
    workshop.deliver_all()

    found = _look(workshop, after)

    assert found.has_failed
    assert not found.is_visible
    assert not found.is_consolidated


def test_a_fact_that_could_not_be_consolidated_ends_the_wait(workshop: Workshop, database: Database) -> None:
    after = _after(workshop.retain(RetainItem("The kettle is blue.")).watermark)
    _consolidate(database, "failed")

    found = _look(workshop, replace(after, wait_ms=20_000, wait_for="consolidated"))

    assert (found.is_visible, found.is_consolidated, found.has_failed_consolidation) == (True, False, True)


def test_a_token_of_elsewhere_is_as_one_of_nothing(workshop: Workshop, database: Database) -> None:
    """Of another bank or tenant, and for a limited key of another subject."""
    after = _after(workshop.retain(RetainItem("The kettle is blue.")).watermark)
    unknown = After(watermark(after.watermark.position, [OperationId(uuid4())]))
    workshop.retain(RetainItem("Elsewhere."), bank="other")
    stranger = replace(workshop.principal, tenant_id=make_tenant(database, "stranger"))
    own = replace(workshop.principal, forced_tags=TagLeaf(frozenset({"own"})))

    told = []
    for named, bank, principal in (
        (unknown, "bank", workshop.principal),
        (after, "other", workshop.principal),
        (after, "bank", replace(own, subject="another")),
    ):
        with pytest.raises(InvalidField, match="after names no write that this bank knows of") as refused:
            _look(workshop, named, principal=principal, bank=bank)
        told.append(str(refused.value))
    with pytest.raises(NotFound):
        _look(workshop, after, principal=stranger)

    assert len(set(told)) == 1
    assert _look(workshop, after, principal=own).is_visible


def test_a_token_that_is_none_and_a_wait_for_nothing_are_refused_by_name(call: Caller) -> None:
    call("PUT", _BANK, {})
    for asked, said in (
        ({"after": "not a token"}, "after is not a watermark"),
        ({"wait_ms": 5}, "'wait_ms' needs 'after'"),
        ({"after": "x", "wait_ms": 20_001}, "wait_ms"),
        ({"after": "x", "wait_for": "ever"}, "wait_for"),
    ):
        refused = call("POST", f"{_BANK}/memories/recall", {"query": "kettle", **asked})

        assert refused.status == 422
        assert said in refused.body.decode()


def test_an_unknown_write_is_422_and_names_the_field(call: Caller, services: FakeRuntime) -> None:
    call("PUT", _BANK, {})
    token = watermark(services.clock.now(), [OperationId(uuid4())]).encode()

    refused = call("POST", f"{_BANK}/memories/recall", {"query": "kettle", "after": token})

    assert refused.status == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "after"]
    assert (
        make_caller(services)("POST", "/v1/default/banks/none/memories/recall", {"query": "k", "after": token}).status
        == 404
    )
