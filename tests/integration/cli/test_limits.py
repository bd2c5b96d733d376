"""Limits and usage on the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from hindsight_aws.cli import main
from hindsight_aws.model.ids import TenantId
from hindsight_aws.retain import RetainItem, RetainRequest, retain
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.limits import Customer
from tests.support.units import make_bank


@pytest.fixture
def customer(database: Database, tenant: TenantId, store: PostgresStore) -> Customer:
    return Customer(database, tenant, store)


def _run(capsys: pytest.CaptureFixture[str], customer: Customer, *arguments: str) -> tuple[int, str]:
    try:
        code = main([*arguments, "--database-url", customer.database.owner_url])
    except SystemExit as wrong:
        code = int(str(wrong.code))
    told = capsys.readouterr()
    return code, told.out or told.err


def test_limits_are_set_one_by_one_shown_and_taken_away(customer: Customer, capsys: pytest.CaptureFixture[str]) -> None:
    tenant = str(customer.tenant)
    customer.spend("0.25", tokens=40)

    _run(capsys, customer, "limits", "set", tenant, "--usd-per-day", "2.5", "--requests-per-minute", "60")
    _run(capsys, customer, "limits", "set", tenant, "--tokens-per-day", "1000000", "--requests-per-minute", "none")
    _, shown = _run(capsys, customer, "limits", "show", tenant, "--json")
    _, lines = _run(capsys, customer, "limits", "show", tenant)
    _, cleared = _run(capsys, customer, "limits", "clear", tenant)
    _, after = _run(capsys, customer, "limits", "show", tenant, "--json")

    limits = json.loads(shown)["limits"]
    assert (limits["usd_per_day"], limits["tokens_per_day"]) == ("2.500000000", 1_000_000)
    assert (limits["requests_per_minute"], limits["alert_share"]) == (None, "0.800")
    assert "2.5000   today 0.2500" in lines
    assert "no limits any more" in cleared
    assert json.loads(after)["limits"] is None


def test_work_that_waits_goes_on_at_once_when_the_limit_is_raised(
    customer: Customer, capsys: pytest.CaptureFixture[str]
) -> None:
    customer.limit(usd_per_day=1)
    customer.spend("1")
    retain(customer.retains, customer.principal, "bank", RetainRequest((RetainItem("Bea moved to Rome."),)))
    _, before = _run(capsys, customer, "limits", "show", str(customer.tenant))
    waiting = customer.due()

    _run(capsys, customer, "limits", "set", str(customer.tenant), "--usd-per-day", "50")

    assert "parked until" in before
    assert ("operation:retain", customer.tenant) not in waiting
    assert ("operation:retain", customer.tenant) in customer.due()
    assert customer.parking() is None


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        pytest.param(["--usd-per-day", "-1"], 2, "an amount above 0", id="negative"),
        pytest.param(["--tokens-per-day", "1.5"], 2, "a whole number", id="fraction"),
        pytest.param(["--alert-share", "1.5"], 2, "at most 1", id="share"),
        pytest.param(["--usd-per-day", "1e-10"], 2, "0.000000001 at least", id="too-little"),
        pytest.param(["--alert-share", "0.0004"], 2, "0.001 at least", id="too-small-a-share"),
        pytest.param(["--alert-share", "none"], 2, "a share above 0", id="no-share"),
        pytest.param([], 1, "name at least one limit", id="nothing"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(
    customer: Customer, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, word: str
) -> None:
    told = _run(capsys, customer, "limits", "set", str(customer.tenant), *arguments)

    assert told[0] == code
    assert word in told[1]
    assert customer.sql("SELECT * FROM tenant_limits") == []


def test_nobody_elses_limits_are_made_for_a_tenant_that_is_not_there(
    customer: Customer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(capsys, customer, "limits", "set", str(uuid4()), "--usd-per-day", "1")[0] == 1


@pytest.mark.parametrize("by", ["day", "bank", "task", "model"])
def test_usage_is_summed_with_totals_and_what_has_no_price(
    customer: Customer, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    bank, model = "garden of the long names of banks", "eu.anthropic.claude-sonnet-4-6-20260115-v1:0"
    bank_id = make_bank(customer.database.admin_url, customer.tenant, bank)
    customer.spend("0.25", tokens=40, bank_id=bank_id)
    customer.spend(None, tokens=2, bank_id=bank_id)
    customer.sql("UPDATE usage_ledger SET calls = 3 WHERE usd IS NULL")
    customer.sql("UPDATE usage_ledger SET model_id = %s", model)

    _, shown = _run(capsys, customer, "usage", "--tenant", str(customer.tenant), "--days", "7", "--by", by, "--json")
    _, lines = _run(capsys, customer, "usage", "--by", by)

    ((told),) = json.loads(shown)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    names = {"day": today, "bank": bank, "task": "extract_facts", "model": model}
    assert told["total"] | {"tokens": None} == {
        "name": "total", "calls": 4, "failed_calls": 0, "tokens": None, "usd": "0.250000000", "unpriced_calls": 3,
    }  # fmt: skip
    assert told["total"]["tokens"]["input"] == 42
    assert [line["name"] for line in told[by]] == [names[by]]
    assert names[by] in lines
