"""Answers that the recorded conversation cannot reach, compared by their keys and with the published shapes."""

from __future__ import annotations

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_services
from tests.support.database import Database
from tests.support.golden import missing_keys, probes, schema_errors
from tests.support.seed import Seeded, seed_bank

BANK = "/v1/default/banks/{bank_id}"

_FACTS = [f"Zoe fact {number}" for number in range(1, 6)]


@pytest.fixture(scope="module")
def seeded(module_database: Database, module_tenant: TenantId) -> Seeded:
    return seed_bank(module_database, module_tenant, "bank", "Zoe")


@pytest.fixture(scope="module")
def reader(module_store: PostgresStore, module_tenant: TenantId) -> Caller:
    return make_caller(make_services(module_store, module_tenant))


def test_an_observation_shows_its_sources_with_their_quotes(reader: Caller, seeded: Seeded) -> None:
    recorded = probes()[127].answer

    shown = reader("GET", f"/v1/default/banks/bank/memories/{seeded.observation}").json()

    assert list(missing_keys(recorded, shown)) == []
    assert shown["source_memory_ids"] == [str(seeded.fact)]
    assert shown["evidence"] == [{"fact_id": str(seeded.fact), "quote": "Zoe keeps bees.", "origin": "whole"}]


@pytest.mark.parametrize(
    "route",
    [
        "/v1/default/banks", f"{BANK}/profile", f"{BANK}/config", f"{BANK}/stats", f"{BANK}/stats/memories-timeseries",
        f"{BANK}/memories/list", f"{BANK}/documents", f"{BANK}/documents/{{document_id}}", f"{BANK}/entities",
        f"{BANK}/entities/graph", f"{BANK}/entities/{{entity_id}}", f"{BANK}/tags", f"{BANK}/operations",
        f"{BANK}/operations/{{operation_id}}", f"{BANK}/webhooks", f"{BANK}/webhooks/{{webhook_id}}/deliveries",
    ],
)  # fmt: skip
def test_a_bank_with_one_of_everything_is_shown_in_the_published_shapes(
    reader: Caller, seeded: Seeded, route: str
) -> None:
    target = route.format(
        bank_id="bank",
        document_id=seeded.document,
        entity_id=seeded.entity,
        operation_id=seeded.operation,
        webhook_id=seeded.webhook,
    )

    answer = reader("GET", target)

    assert answer.status == 200
    assert schema_errors("GET", route, 200, answer.json()) == []


def test_lists_are_paged_and_say_the_whole_length(reader: Caller, seeded: Seeded) -> None:
    for path, key in (("/memories/list", "items"), ("/documents", "items"), ("/entities", "items"), ("/tags", "items")):
        whole = reader("GET", f"/v1/default/banks/bank{path}").json()
        none = reader("GET", f"/v1/default/banks/bank{path}?limit=0").json()
        past = reader("GET", f"/v1/default/banks/bank{path}?offset=50").json()

        assert whole["total"] == len(whole[key]) > 0
        assert (none["total"], none[key]) == (whole["total"], [])
        assert (past["total"], past[key]) == (whole["total"], [])


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("type=world", ["Zoe keeps bees."]),
        ("type=observation", ["Zoe is a beekeeper."]),
        ("type=experience", _FACTS),
        ("q=BEEKEEPER", ["Zoe is a beekeeper."]),
        ("q=context%20zoe", ["Zoe keeps bees."]),
        ("q=%25", []),
        ("document_id=doc/Zoe", [*_FACTS, "Zoe keeps bees."]),
        ("document_id=doc", []),
        ("tags=user:a&type=world", ["Zoe keeps bees."]),
        ("tags=user:b", []),
        ("tags_match=exact", []),
        ("state=invalidated", ["Zoe has gone"]),
        ("consolidation_state=pending", _FACTS),
        ("time_field=mentioned_at", _FACTS),
        ("time_field=created_at&end_date=2020-01-01", []),
        ("time_field=created_at&start_date=2020-01-01&type=world", ["Zoe keeps bees."]),
    ],
)
def test_memories_are_found_by_each_filter(reader: Caller, seeded: Seeded, query: str, texts: list[str]) -> None:
    found = reader("GET", f"/v1/default/banks/bank/memories/list?{query}").json()

    assert sorted(item["text"] for item in found["items"]) == texts
    assert found["total"] == len(texts)


def test_a_deleted_bank_takes_everything_with_it(
    reader: Caller, module_database: Database, module_tenant: TenantId
) -> None:
    doomed = seed_bank(module_database, module_tenant, "doomed", "Ned")

    gone = reader("DELETE", "/v1/default/banks/doomed").json()

    assert gone["deleted_count"] == 10
    assert reader("GET", "/v1/default/banks/doomed/stats").status == 404
    assert reader("GET", f"/v1/default/banks/doomed/memories/{doomed.fact}").status == 404
    assert reader("PUT", "/v1/default/banks/doomed", {}).status == 200
    assert reader("GET", "/v1/default/banks/doomed/stats").json()["total_nodes"] == 0
