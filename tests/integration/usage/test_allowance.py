"""Admission of model calls: what workers side by side may spend, what a killed one leaves, who is told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import pytest

from hindsight_aws.errors import LimitReached, ModelThrottled
from hindsight_aws.jobs.limits import tend_limits
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.limits import DAY, Limits, day_of
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.ports.store import DueWork
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.usage.allowance import LONGEST_RESERVATION, Allowance, Granted
from hindsight_aws.usage.estimate import estimate
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.limits import Customer

WORKERS = 6
CALL = ModelCall("extract_facts", "p@1", "anthropic.claude-haiku-4-5", "Read.", ("<data>",), 10_000, "tenant", "bank")
MOST = estimate(CALL).usd or Decimal(0)
"""What one such call may cost."""


@pytest.fixture
def customer(database: Database, tenant: TenantId, store: PostgresStore) -> Customer:
    return Customer(database, tenant, store)


@pytest.fixture
def stores(database: Database) -> Iterator[list[PostgresStore]]:
    made = [PostgresStore(lambda: database.write_url, connect_for_s=30.0) for _ in range(WORKERS)]
    yield made
    for each in made:
        each.close()


def _ask(customer: Customer, store: PostgresStore, calls: int = 1) -> tuple[Allowance, Granted]:
    allowance = Allowance(customer.tenant, customer.clock)
    with store.transaction(customer.tenant) as tx:
        granted = allowance.ask(tx, lambda: {f"call {number}": CALL for number in range(calls)})
    return allowance, granted


def _at_once(customer: Customer, stores: list[PostgresStore]) -> list[Granted]:
    together = Barrier(len(stores))

    def work(store: PostgresStore) -> Granted:
        together.wait()
        return _ask(customer, store)[1]

    with ThreadPoolExecutor(len(stores)) as pool:
        return list(pool.map(work, stores))


def test_workers_side_by_side_are_let_spend_no_more_than_the_cap(
    customer: Customer, stores: list[PostgresStore]
) -> None:
    customer.limit(usd_per_day=MOST * 3)

    granted = _at_once(customer, stores)

    ((held,),) = customer.sql("SELECT sum(usd) FROM spend_holds")
    assert sorted(one.calls for one in granted) == [0, 0, 0, 1, 1, 1]
    assert held == MOST * 3
    assert {type(one.refusal) for one in granted if not one.calls} == {ModelThrottled}
    assert customer.parking() is None


def test_an_alert_is_given_once_however_many_workers_and_sweeps_meet_it(
    customer: Customer, stores: list[PostgresStore], caplog: pytest.LogCaptureFixture
) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("0.85")
    due = [DueWork(customer.tenant, "limits", customer.tenant, customer.tenant)]

    _at_once(customer, stores)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda store: tend_limits(store, due, customer.clock.now()), stores[:2]))
    customer.spend("0.2")
    _at_once(customer, stores)
    for store in stores[:2]:
        tend_limits(store, due, customer.clock.now())

    told = [record.getMessage() for record in caplog.records if record.name == "hindsight_aws.jobs.limits"]
    assert customer.alerts() == [("usd_per_day", Decimal("0.8")), ("usd_per_day", Decimal(1))]
    assert [line.split("share=")[1].split()[0] for line in told] == ["0.8", "1"]


def test_a_wave_of_calls_is_let_through_as_far_as_it_fits(customer: Customer, store: PostgresStore) -> None:
    customer.limit(usd_per_day=MOST * 2)

    _, granted = _ask(customer, store, calls=5)

    assert granted == Granted(2)


def test_what_was_held_is_given_back_with_the_line_in_the_ledger(customer: Customer, store: PostgresStore) -> None:
    customer.limit(usd_per_day=MOST)
    allowance, first = _ask(customer, store)
    _, meanwhile = _ask(customer, store)

    with store.transaction(customer.tenant) as tx:
        allowance.settle(tx)
    _, after = _ask(customer, store)

    assert (first.calls, meanwhile.calls, after.calls) == (1, 0, 1)


def test_a_worker_killed_between_admission_and_ledger_holds_nothing_for_long(
    customer: Customer, store: PostgresStore
) -> None:
    customer.limit(usd_per_day=MOST)
    _ask(customer, store)

    _, soon = _ask(customer, store)
    now = customer.clock.now()
    customer.sql("UPDATE spend_holds SET expires_at = expires_at - %s", LONGEST_RESERVATION + timedelta(seconds=1))
    _, later = _ask(customer, store)

    assert isinstance(soon.refusal, ModelThrottled)
    assert soon.refusal.until is not None
    assert soon.refusal.until - now < timedelta(minutes=1)
    assert later.calls == 1
    assert customer.sql("SELECT count(*) FROM spend_holds") == [(1,)]


def test_a_limit_that_is_raised_while_an_admission_parks_leaves_nothing_parked(
    customer: Customer, stores: list[PostgresStore], database: Database
) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("1")

    def lift() -> None:
        with closing(PostgresStore(lambda: database.owner_url)) as owner, owner.transaction(customer.tenant) as tx:
            tx.limits.set(Limits(usd_per_day=Decimal(100)))

    with ThreadPoolExecutor(2) as pool:
        with stores[0].transaction(customer.tenant) as tx:
            refused = Allowance(customer.tenant, customer.clock).ask(tx, lambda: {"a call": CALL})
            lifted = pool.submit(lift)
            until_blocked(database)
            late = pool.submit(_ask, customer, stores[1])
            until_blocked(database, 2)
        lifted.result()
        admitted = late.result()[1]

    assert isinstance(refused.refusal, LimitReached)
    assert admitted == Granted(1)
    assert customer.parking() is None


@pytest.mark.parametrize(
    ("cap", "reason"),
    [
        pytest.param(
            {"usd_per_day": MOST * 2 - MOST / 2}, "and the next call may cost", id="what is left is too little"
        ),
        pytest.param({"tokens_per_day": 5}, "5 tokens a day", id="tokens"),
    ],
)
def test_a_call_that_does_not_fit_into_the_day_parks_the_tenant(
    customer: Customer, store: PostgresStore, cap: dict[str, object], reason: str
) -> None:
    customer.limit(**cap)
    customer.spend(str(MOST), tokens=3)

    _, granted = _ask(customer, store)

    parking = customer.parking()
    assert isinstance(granted.refusal, LimitReached)
    assert parking is not None
    assert reason in parking.reason
    assert timedelta(0) < parking.until - customer.clock.now() <= timedelta(days=1, minutes=5)


def test_calls_of_unknown_price_count_for_the_dearest(customer: Customer, store: PostgresStore) -> None:
    customer.limit(usd_per_day=1)
    customer.spend(None, tokens=100_000)

    _, granted = _ask(customer, store)

    assert isinstance(granted.refusal, LimitReached)


def test_a_tenant_without_limits_on_models_is_asked_for_nothing(customer: Customer, store: PostgresStore) -> None:
    customer.limit(requests_per_day=5)

    _, granted = _ask(customer, store)

    assert granted.calls >= 1
    assert customer.sql("SELECT * FROM spend_holds") == []


def test_a_long_day_is_added_up_and_comes_to_the_same(customer: Customer, store: PostgresStore) -> None:
    customer.limit(usd_per_day=100)
    now = customer.clock.now()
    start = day_of(now) - DAY
    customer.sql(
        "INSERT INTO usage_ledger (tenant_id, entry_id, task, model_id, status, input_tokens, output_tokens, usd, "
        "calls, at) SELECT %s, gen_random_uuid(), CASE WHEN n %% 7 = 0 THEN 'requests' ELSE 'embed' END, 'm', 'ok', n, "
        "1, CASE WHEN n %% 5 > 0 THEN 0.001 END, 2, %s + n * interval '1 minute' FROM generate_series(1, 1200) AS n",
        customer.tenant, start,
    )  # fmt: skip

    with store.transaction(customer.tenant) as tx:
        before = tx.limits.spent(start, start + DAY)
        requests = tx.limits.requests(start, start + timedelta(minutes=1_100))
        tx.limits.add_up(start, start + DAY)
        after = tx.limits.spent(start, start + DAY)
        added = tx.limits.requests(start, start + timedelta(minutes=1_100))
        tx.limits.add_up(start, start + DAY)
        again = tx.limits.spent(start, start + DAY)

    assert before.settled == 1_200
    assert (after, again) == (replace(before, settled=0), replace(before, settled=0))
    assert (requests[0], added[0]) == (before.requests, before.requests)
    assert before.requests == 2 * len([n for n in range(1, 1_201) if n % 7 == 0])
