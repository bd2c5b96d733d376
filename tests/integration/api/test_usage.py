"""What a bank's model calls came to, as whoever answers for the bill sees it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_key
from tests.support.database import Database
from tests.support.units import make_bank

USAGE = "/v1/default/banks/bank/usage"
NOTHING = {
    "calls": 0, "failed_calls": 0, "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0,
    "cache_write_tokens": 0, "usd": 0.0, "unpriced_calls": 0,
}  # fmt: skip


class Ledger:
    """The ledger of a bank, written past the product."""

    def __init__(self, database: Database, tenant: TenantId) -> None:
        self._database, self._tenant = database, tenant
        self._bank = make_bank(database.admin_url, tenant)
        self._other = make_bank(database.admin_url, tenant, "other")

    def line(self, task: str, model: str, usd: str | None, **fields: object) -> None:
        status, calls, day, other = (
            fields.get("status", "ok"), fields.get("calls", 1), fields.get("day", 1), fields.get("other"),
        )  # fmt: skip
        with psycopg.connect(self._database.admin_url, autocommit=True) as admin:
            admin.execute(
                "INSERT INTO hindsight.usage_ledger (tenant_id, entry_id, bank_id, task, model_id, status, "
                "input_tokens, output_tokens, calls, usd, at) VALUES (%s, %s, %s, %s, %s, %s, 100, 20, %s, %s, %s)",
                (
                    self._tenant, uuid4(), self._other if other else self._bank, task, model, status, calls, usd,
                    datetime(2031, 5, int(str(day)), tzinfo=UTC),
                ),
            )  # fmt: skip


@pytest.fixture
def ledger(database: Database, tenant: TenantId) -> Ledger:
    return Ledger(database, tenant)


def test_calls_tokens_and_usd_are_summed_by_task_and_model(ledger: Ledger, call: Caller) -> None:
    ledger.line("extract_facts", "claude", "0.25")
    ledger.line("extract_facts", "claude", "0.5", status="malformed")
    ledger.line("embed", "titan", "0.125", calls=40)
    ledger.line("embed", "titan", "7", other=True)

    shown = call("GET", USAGE).json()

    assert [(line["task"], line["model"], line["calls"], line["usd"]) for line in shown["items"]] == [
        ("embed", "titan", 40, 0.125),
        ("extract_facts", "claude", 2, 0.75),
    ]
    assert shown["total"] == NOTHING | {
        "calls": 42, "failed_calls": 1, "input_tokens": 300, "output_tokens": 60, "usd": 0.875,
    }  # fmt: skip


def test_a_model_without_a_price_is_never_shown_as_free(ledger: Ledger, call: Caller) -> None:
    ledger.line("extract_facts", "unheard-of", None, calls=3)

    alone = call("GET", USAGE).json()
    ledger.line("embed", "titan", "0.5")
    beside = call("GET", USAGE).json()

    assert (alone["items"][0]["usd"], alone["items"][0]["unpriced_calls"]) == (None, 3)
    assert (alone["total"]["usd"], alone["total"]["unpriced_calls"]) == (None, 3)
    assert (beside["total"]["usd"], beside["total"]["unpriced_calls"]) == (0.5, 3)


def test_a_window_includes_its_start_and_excludes_its_end(ledger: Ledger, call: Caller) -> None:
    for day in (1, 2, 3, 4):
        ledger.line("embed", "titan", "1", day=day)

    shown = call("GET", f"{USAGE}?start_date=2031-05-02&end_date=2031-05-04").json()

    assert (shown["total"]["calls"], shown["start_date"]) == (2, "2031-05-02T00:00:00+00:00")
    assert call("GET", f"{USAGE}?start_date=2031-05-02&end_date=2031-05-01").status == 400
    assert call("GET", f"{USAGE}?start_date=soon").status == 400


def test_a_bank_that_asked_no_model_cost_nothing(ledger: Ledger, call: Caller) -> None:
    assert call("GET", USAGE).json() == {
        "bank_id": "bank", "start_date": None, "end_date": None, "total": NOTHING, "items": [],
    }  # fmt: skip


def test_a_retain_is_in_the_usage_of_its_bank(call: Caller) -> None:
    call("POST", "/v1/default/banks/fresh/memories", {"items": [{"content": "Bo watered a tree."}]})

    shown = call("GET", "/v1/default/banks/fresh/usage").json()

    assert {line["task"] for line in shown["items"]} == {"embed", "extract_facts"}


@pytest.mark.parametrize(
    "limits",
    [{"exact_scopes": (frozenset({"company:a"}),)}, {"fact_types": frozenset({"world"})}],
    ids=["scopes", "types"],
)
def test_a_key_limited_to_part_of_a_bank_is_not_told_what_the_whole_costs(
    module_database: Database,
    module_tenant: TenantId,
    handler: LambdaHandler,
    owner_store: PostgresStore,
    limits: dict[str, object],
) -> None:
    bank = f"bank-{uuid4()}"
    make_bank(module_database.admin_url, module_tenant, bank)
    limited = Caller(handler, make_key(owner_store, module_tenant, **limits))
    whole = Caller(handler, make_key(owner_store, module_tenant))

    assert limited("GET", f"/v1/default/banks/{bank}/usage").status == 403
    assert whole("GET", f"/v1/default/banks/{bank}/usage").status == 200
