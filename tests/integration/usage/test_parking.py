"""A tenant over its daily limit: work is accepted and waits, and goes on the next day, with nothing lost."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hindsight_aws.consolidate.drain import Drained, drain
from hindsight_aws.consolidate.submit import submit as ask
from hindsight_aws.errors import LimitReached
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.recall import RecallQuery, recall
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.retain import RetainItem, RetainRequest, RetainResult, retain, submit
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database, make_tenant
from tests.support.limits import Customer
from tests.support.models import in_turn
from tests.support.reflect import done, make_rig, uses
from tests.support.refreshing import make_garden, page, ready
from tests.support.sweeping import sweep_once
from tests.support.units import Unit


@pytest.fixture
def customer(database: Database, tenant: TenantId, store: PostgresStore) -> Customer:
    return Customer(database, tenant, store)


def _retain(customer: Customer, text: str) -> RetainResult:
    return retain(customer.retains, customer.principal, "bank", RetainRequest((RetainItem(text),)))


def _ingest(customer: Customer, operation_id: OperationId) -> Outcome:
    return ingest(
        customer.retains, f'{{"tenant_id": "{customer.tenant}", "operation_id": "{operation_id}"}}', seconds=30
    )


def _operations(customer: Customer) -> list[tuple[str, int]]:
    return [(row[0], row[1]) for row in customer.sql("SELECT status, attempts FROM operations WHERE kind = 'retain'")]


def test_retains_over_the_cap_are_accepted_and_done_the_next_day(customer: Customer) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("1")

    first = _retain(customer, "Bea moved to Rome.")
    second = _retain(customer, "Bea speaks Thai.")
    third = submit(customer.retains, customer.principal, "bank", RetainRequest((RetainItem("Bea has a cat."),)))
    woken = [operation_id for _, operation_id, _ in customer.wakeups.operations]
    outcomes = {_ingest(customer, operation_id) for operation_id in woken}
    today = (_operations(customer), customer.due(), [*customer.model.calls], [*customer.embedder.texts])
    customer.clock.days = 1
    customer.wakeups.operations.clear()
    sweep_once(customer.store, customer.wakeups, customer.settings, clock=customer.clock)
    for _, operation_id, _ in list(customer.wakeups.operations):
        _ingest(customer, operation_id)

    assert [first.is_async, second.is_async, third.is_async] == [True, True, True]
    assert outcomes == {Outcome.DONE}
    assert len(woken) == 1  # of the async one; nothing was sent for parked work
    assert today == ([("pending", 0)] * 3, [("limits", customer.tenant)], [], [])
    assert _operations(customer) == [("completed", 1)] * 3
    assert {row[0] for row in customer.sql("SELECT text FROM memory_units")} == {
        "Bea moved to Rome.", "Bea speaks Thai.", "Bea has a cat.",
    }  # fmt: skip


def test_consolidation_over_the_cap_leaves_its_rows_as_they_are_until_the_next_day(customer: Customer) -> None:
    _retain(customer, "Bea moved to Rome.")
    customer.model.script = in_turn({"consolidate": [{}], "judge_duplicate": [{"action": "keep"}]})
    ((bank_id, scope_id),) = customer.sql("SELECT bank_id, scope_id FROM scopes")
    where = ScopeAddress(customer.tenant, bank_id, scope_id)
    rows = "SELECT state, attempts, calls, deferrals, due_at, outcome FROM consolidation_work"
    before = customer.sql(rows)
    customer.limit(usd_per_day=1)
    customer.spend("0.99")
    customer.wakeups.scopes.clear()

    met, again = (drain(customer.consolidates, where, lambda: 900.0) for _ in range(2))
    today = (customer.sql(rows), [kind for kind, _ in customer.due()], customer.model.asked("consolidate"))
    customer.clock.days = 1
    tomorrow = [kind for kind, _ in customer.due()]
    ended = drain(customer.consolidates, where, lambda: 900.0)

    assert (met, again) == (Drained.PARKED, Drained.PARKED)
    assert today == (before, ["limits"], [])
    assert customer.wakeups.scopes == []
    assert "consolidation" in tomorrow
    assert ended is Drained.DONE
    assert [row[0] for row in customer.sql(rows)] == ["done"]
    assert customer.alerts() == [("usd_per_day", Decimal("0.8")), ("usd_per_day", Decimal(1))]
    assert customer.sql("SELECT * FROM spend_holds") == []


def test_consolidation_that_is_asked_for_again_over_the_cap_is_one_operation(customer: Customer) -> None:
    of_bea = RetainRequest((RetainItem("Bea moved to Rome.", tags=("a",)),))
    retain(customer.retains, customer.principal, "bank", of_bea)
    customer.limit(usd_per_day=1)
    customer.spend("1")
    _retain(customer, "Bea speaks Thai.")
    ((is_parked,),) = customer.sql("SELECT parked_until > now() FROM tenant_parking")

    asked = [ask(customer.consolidates, customer.principal, "bank", [["a"]]) for _ in range(2)]

    assert is_parked
    assert asked[0].operation_id == asked[1].operation_id
    assert [one.deduplicated for one in asked] == [False, True]


def test_a_reflect_that_meets_the_cap_ends_and_the_next_is_refused_until_tomorrow(
    database: Database, store: PostgresStore, customer: Customer
) -> None:
    found = uses(("recall", {"reason": "r", "query": "Bea"}))
    rig = make_rig(database, store, customer.tenant, found, done("In Rome.", "f1"))
    rig.remember(Unit("Bea moved to Rome."))
    rig.clock = customer.clock
    customer.limit(tokens_per_day=1_000)

    run = rig.ask(ReflectRequest("Where does Bea live?"))
    with pytest.raises(LimitReached) as refused:
        rig.ask(ReflectRequest("Where does Bea live now?"))
    asked = len(rig.model.calls)
    customer.clock.days = 1
    customer.limit(tokens_per_day=1_000_000)
    answer = rig.answer(ReflectRequest("Where did Bea move?"))

    assert (run.status, run.error, asked) == ("failed", "LimitReached", 0)
    assert "tokens_per_day" in str(refused.value)
    assert answer["text"] == "In Rome."


def test_a_refresh_that_meets_the_cap_waits_and_is_made_the_next_day(
    database: Database, store: PostgresStore, customer: Customer
) -> None:
    garden = make_garden(database, store, customer.tenant, ready(), page("A rose.", cites=("f1",)))
    garden.rig.remember(Unit("A rose grows here."))
    garden.clock = garden.rig.clock = customer.clock
    customer.limit(usd_per_day="0.01")

    asked = garden.plant()
    garden.grow(asked)
    met = garden.operation(asked.operation_id)
    garden.grow(asked)
    parked = garden.operation(asked.operation_id)
    today = customer.due()
    customer.clock.days = 1
    customer.limit(usd_per_day=10)
    tomorrow = customer.due()
    garden.grow(asked)

    assert (met.status, met.retries, parked.status) == ("pending", 0, "pending")
    assert ("operation:refresh_mental_model", customer.tenant) not in today
    assert ("operation:refresh_mental_model", customer.tenant) in tomorrow
    assert garden.operation(asked.operation_id).status == "completed"


def test_recall_over_the_cap_answers_without_models_and_says_so(customer: Customer, read_store: PostgresStore) -> None:
    _retain(customer, "Bea moved to Rome.")
    customer.limit(usd_per_day=1)
    customer.spend("2")
    sweep_once(customer.store, customer.wakeups, customer.settings, clock=customer.clock)
    customer.embedder.texts.clear()

    def ask() -> tuple[list[str], tuple[str, ...] | None]:
        answer = recall(
            read_store, customer.embedder, customer.settings, customer.principal, "bank", RecallQuery("Rome"),
            clock=customer.clock,
        )  # fmt: skip
        return [result.unit.text for result in answer.results], answer.cut

    over, texts = ask(), [*customer.embedder.texts]
    customer.clock.days = 1

    assert over == (["Bea moved to Rome."], ("semantic",))
    assert texts == []
    assert ask() == (["Bea moved to Rome."], None)


def test_a_model_without_a_price_is_not_asked_for_a_tenant_with_a_cap_in_usd(customer: Customer) -> None:
    customer.settings = customer.settings.model_copy(update={"hindsight_api_llm_model": "nobody.knows-v1"})
    customer.limit(usd_per_day=1_000)

    result = _retain(customer, "Bea moved to Rome.")

    parking = customer.parking()
    assert result.is_async
    assert customer.model.calls == []
    assert parking is not None
    assert "the price of nobody.knows-v1 is not known" in parking.reason


def test_old_work_of_a_parked_tenant_takes_no_place_from_another(customer: Customer, database: Database) -> None:
    other = Customer(database, make_tenant(database, "other"), customer.store)
    customer.limit(usd_per_day=1)
    customer.spend("1")
    _retain(customer, "Bea moved to Rome.")
    submit(other.retains, other.principal, "bank", RetainRequest((RetainItem("Ann has a dog."),)))

    due = customer.due(at_most=1)

    assert ("operation:retain", other.tenant) in due


def test_a_day_begins_at_midnight_whatever_was_spent_before(customer: Customer) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("5")
    customer.clock.days = 1

    assert not _retain(customer, "Bea moved to Rome.").is_async
