"""Counts of a bank: right after what came and went."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.links.maintain import maintain
from hindsight_aws.model.ids import TenantId, UnitId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_key
from tests.support.database import Database

BANK = "/v1/default/banks/bank"


@pytest.fixture
def bank(call: Caller, services: FakeRuntime) -> Caller:
    """A client of a bank with three dated documents of one fact, near in time and in meaning."""
    services.settings = services.settings.model_copy(update={"hindsight_api_llm_provider": "none"})
    services.__dict__["text_model"] = None
    items = [
        {"content": f"Bo watered tree {n}.", "document_id": f"d{n}", "timestamp": f"2031-05-04T1{n}:00:00Z"}
        for n in range(3)
    ]
    assert call("POST", f"{BANK}/memories", {"items": items}).status == 200
    return call


def _stats(call: Caller) -> dict[str, Any]:
    answer: dict[str, Any] = call("GET", f"{BANK}/stats").json()
    return answer


def _facts(database: Database) -> list[UnitId]:
    with psycopg.connect(database.admin_url) as admin:
        return [UnitId(row[0]) for row in admin.execute("SELECT id FROM hindsight.memory_units ORDER BY event_date")]


def test_links_are_counted_by_type_and_only_once(bank: Caller) -> None:
    stats = _stats(bank)

    assert stats["links_by_link_type"] == {"semantic": 3, "temporal": 3}
    assert (stats["total_links"], stats["total_nodes"], stats["total_documents"]) == (6, 3, 3)


def test_a_key_of_one_person_counts_the_persons_documents(
    handler: LambdaHandler, owner_store: PostgresStore, module_tenant: TenantId
) -> None:
    firm = Caller(handler, make_key(owner_store, module_tenant))
    forced = {"tags": ["user:u"], "match": "any_strict"}
    person = Caller(handler, make_key(owner_store, module_tenant, forced_tags=forced))
    items = [{"content": f"{tag} rows.", "document_id": tag, "tags": [tag]} for tag in ("user:u", "user:p")]
    firm("POST", f"{BANK}/memories", {"items": items})

    assert (_stats(firm)["total_documents"], _stats(person)["total_documents"]) == (2, 1)


def test_counts_are_right_after_a_fact_went_and_after_the_rest_was_tended(
    bank: Caller, database: Database, services: FakeRuntime, tenant: TenantId
) -> None:
    first = _facts(database)[0]
    with services.store.transaction(tenant) as tx:
        found = tx.banks.find("bank")
        assert found is not None
        tx.memories.remove(found.bank_id, [first])

    removed = _stats(bank)
    maintain(services.link_ports, tenant, found.bank_id, lambda: 300.0)
    tended = _stats(bank)

    for stats in (removed, tended):
        assert (stats["total_nodes"], stats["nodes_by_fact_type"]) == (2, {"world": 2})
        assert stats["links_by_link_type"] == {"semantic": 1, "temporal": 1}
        assert stats["pending_consolidation"] == 2


def test_the_timeseries_loses_what_was_removed(
    bank: Caller, database: Database, services: FakeRuntime, tenant: TenantId
) -> None:
    def worlds() -> int:
        return sum(bucket["world"] for bucket in bank("GET", f"{BANK}/stats/memories-timeseries").json()["buckets"])

    assert worlds() == 3
    with services.store.transaction(tenant) as tx:
        found = tx.banks.find("bank")
        assert found is not None
        tx.memories.remove(found.bank_id, _facts(database)[:2])

    assert worlds() == 1


@pytest.mark.parametrize(
    ("period", "unit", "count", "step"),
    [
        ("1h", "minute", 60, timedelta(minutes=1)),
        ("12h", "hour", 12, timedelta(hours=1)),
        ("1d", "hour", 24, timedelta(hours=1)),
        ("7d", "day", 7, timedelta(days=1)),
        ("90d", "day", 90, timedelta(days=1)),
        ("a while", "day", 7, timedelta(days=1)),
    ],
)
def test_every_bucket_of_a_period_is_there(bank: Caller, period: str, unit: str, count: int, step: timedelta) -> None:
    shown = bank("GET", f"{BANK}/stats/memories-timeseries?period={period}").json()

    times = [datetime.fromisoformat(bucket["time"]) for bucket in shown["buckets"]]
    assert (shown["trunc"], len(times), times[1] - times[0]) == (unit, count, step)
    assert sum(bucket["world"] for bucket in shown["buckets"]) == 3


def test_a_time_field_places_memories_by_when_they_happened(bank: Caller) -> None:
    shown = bank("GET", f"{BANK}/stats/memories-timeseries?time_field=mentioned_at&period=1d").json()

    assert shown["time_field"] == "mentioned_at"
    assert sum(bucket["world"] for bucket in shown["buckets"]) == 0
