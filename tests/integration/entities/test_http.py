"""Entities over HTTP: the list, one of them and the graph, each counted over what the caller may see."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.entities.conftest import moment
from tests.support.api import Answer, Caller, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant
from tests.support.golden import schema_errors
from tests.support.units import Unit, insert_units, make_bank

BANK = "/v1/default/banks/town"
FACTS = [
    Unit("Ada met Bea.", tags=("user:a",), entities=("Ada", "Bea"), occurred_start=moment(1)),
    Unit("Ada wrote to Bea.", tags=("user:b",), entities=("Ada", "Bea"), occurred_start=moment(3)),
    Unit("Ada saw Cleo.", tags=("user:b",), entities=("Ada", "Cleo"), occurred_start=moment(2)),
    Unit("Dan sleeps.", entities=("Dan",), fact_type="experience"),
]

_NOT_OF_B = quote('[{"not": {"tags": ["user:b"]}}]')


@pytest.fixture(scope="module")
def town(module_database: Database) -> TenantId:
    """The tenant of a bank with these facts, and of an empty one."""
    tenant = make_tenant(module_database)
    insert_units(module_database.admin_url, tenant, make_bank(module_database.admin_url, tenant, "town"), FACTS)
    make_bank(module_database.admin_url, tenant, "void")
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute("UPDATE hindsight.memory_units SET event_date = occurred_start WHERE tenant_id = %s", (tenant,))
    return tenant


@pytest.fixture(scope="module")
def reader(module_store: PostgresStore, town: TenantId) -> Caller:
    return make_caller(make_services(module_store, town))


def names(graph: Any) -> dict[str, str]:
    """The labels of a graph's nodes, by their ids."""
    return {node["data"]["id"]: node["data"]["label"] for node in graph["nodes"]}


def pairs(answer: Answer) -> list[tuple[str, str, int]]:
    """A graph's edges by the names they join, with their weights."""
    graph = answer.json()
    label = names(graph)
    return [
        (*sorted((label[edge["data"]["source"]], label[edge["data"]["target"]])), edge["data"]["weight"])
        for edge in graph["edges"]
    ]


def test_the_graph_joins_who_is_named_together_the_heaviest_pairs_first(reader: Caller) -> None:
    answer = reader("GET", f"{BANK}/entities/graph")

    graph = answer.json()
    assert schema_errors("GET", "/v1/default/banks/{bank_id}/entities/graph", 200, graph) == []
    assert pairs(answer) == [("Ada", "Bea", 2), ("Ada", "Cleo", 1)]
    assert {
        node["data"]["label"]: (node["data"]["mentionCount"], node["data"]["color"]) for node in graph["nodes"]
    } == {
        "Ada": (3, "#42a5f5"),
        "Bea": (2, "#42a5f5"),
        "Cleo": (1, "#90caf9"),
    }
    edge = graph["edges"][0]["data"]
    assert edge["id"] == f"{edge['source']}-{edge['target']}"
    assert edge["source"] < edge["target"]
    assert edge["lastCooccurred"].startswith("2026-03-03T10:00:00")
    assert (graph["total_entities"], graph["total_edges"], graph["limit"]) == (3, 2, 1000)


def test_limit_caps_edges_and_their_entities_and_the_totals_stay(reader: Caller) -> None:
    one = reader("GET", f"{BANK}/entities/graph?limit=1").json()
    none = reader("GET", f"{BANK}/entities/graph?limit=0").json()

    assert sorted(names(one).values()) == ["Ada", "Bea"]
    assert (one["total_entities"], one["total_edges"], one["limit"]) == (3, 2, 1)
    assert (none["nodes"], none["edges"], none["total_edges"]) == ([], [], 2)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("min_count=2", [("Ada", "Bea", 2)]),
        ("min_count=3", []),
        ("min_count=-1", [("Ada", "Bea", 2), ("Ada", "Cleo", 1)]),
        ("tags=user:a", [("Ada", "Bea", 1)]),
        ("tags=user:a&tags=user:b", [("Ada", "Bea", 2), ("Ada", "Cleo", 1)]),
        ("tags=user:a&tags=user:b&tags_match=all_strict", []),
        ("tags_match=exact", []),
        (f"tag_groups={_NOT_OF_B}", [("Ada", "Bea", 1)]),
    ],
)
def test_the_graph_is_counted_over_memories_that_pass_the_filter(
    reader: Caller, query: str, found: list[tuple[str, str, int]]
) -> None:
    assert sorted(pairs(reader("GET", f"{BANK}/entities/graph?{query}"))) == sorted(found)


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"fact_types": frozenset({"experience"})}, []),
        ({"fact_types": frozenset({"world"})}, [("Ada", "Bea", 2), ("Ada", "Cleo", 1)]),
        ({"exact_scopes": (("user:a",),)}, []),
    ],
    ids=["experiences", "worlds", "observations-of-a-scope"],
)
def test_the_graph_shows_a_limited_key_what_it_may_see(
    owner_store: PostgresStore, handler: LambdaHandler, town: TenantId, limits: dict[str, Any], found: list[Any]
) -> None:
    limited = Caller(handler, make_key(owner_store, town, **limits))

    answer = limited("GET", f"{BANK}/entities/graph")

    assert sorted(pairs(answer)) == sorted(found)
    assert answer.json()["total_edges"] == len(found)


def test_an_empty_bank_has_an_empty_graph_and_a_missing_one_has_none(reader: Caller) -> None:
    empty = reader("GET", "/v1/default/banks/void/entities/graph")
    missing = reader("GET", "/v1/default/banks/nowhere/entities/graph")

    assert empty.json() == {"nodes": [], "edges": [], "total_entities": 0, "total_edges": 0, "limit": 1000}
    assert (missing.status, missing.json()) == (404, {"detail": "Bank 'nowhere' not found"})


@pytest.mark.parametrize(
    ("query", "status"),
    [("limit=-1", 422), ("limit=x", 422), ("min_count=x", 422), ("min_count=99999999999", 422), ("tag_groups=zz", 400),
     ("tags=a&tag_groups=[]", 400), ("tags_match=some", 422)],
)  # fmt: skip
def test_a_wrong_parameter_is_named(reader: Caller, query: str, status: int) -> None:
    answer = reader("GET", f"{BANK}/entities/graph?{query}")

    assert answer.status == status
    assert query.split("=", 1)[0].split("&", maxsplit=1)[0] in answer.body.decode()


def test_entities_are_listed_by_mentions_within_the_filter(reader: Caller) -> None:
    listed = reader("GET", f"{BANK}/entities?tags=user:b&tags_match=any_strict").json()

    assert [(item["canonical_name"], item["mention_count"]) for item in listed["items"]] == [
        ("Ada", 2), ("Bea", 1), ("Cleo", 1)
    ]  # fmt: skip
    assert listed["items"][0]["first_seen"].startswith("2026-03-02")


def test_an_entity_is_shown_only_where_a_memory_in_sight_mentions_it(reader: Caller) -> None:
    every = {item["canonical_name"]: item["id"] for item in reader("GET", f"{BANK}/entities").json()["items"]}

    assert reader("GET", f"{BANK}/entities/{every['Cleo']}?tags=user:b").status == 200
    assert reader("GET", f"{BANK}/entities/{every['Cleo']}?tags=user:a&tags_match=any_strict").status == 404
    assert reader("GET", f"{BANK}/entities/graphs").status == 400


def test_regenerating_an_entity_is_gone(reader: Caller) -> None:
    answer = reader("POST", f"{BANK}/entities/{'0' * 8}-0000-0000-0000-{'0' * 12}/regenerate")

    assert answer.status == 410
    assert "recall" in answer.json()["detail"]


def test_the_types_that_a_caller_gave_are_shown_with_the_document(
    module_database: Database, module_store: PostgresStore
) -> None:
    caller = make_caller(make_services(module_store, make_tenant(module_database)))
    entities = [{"text": "Ada", "type": "PERSON"}, {"text": "tea"}, {"text": " Oslo  fjord", "type": "PLACE"}]
    item = {"content": "Ada drinks tea.", "document_id": "d", "entities": entities, "resolve_entities": False}

    assert caller("POST", f"{BANK}/memories", {"items": [item]}).status == 200
    shown = caller("GET", f"{BANK}/documents/d").json()["retain_params"]
    too_long = caller("POST", f"{BANK}/memories", {"items": [item | {"entities": [{"text": "x", "type": "y" * 65}]}]})

    assert shown["entities"] == [
        {"text": "Ada", "type": "PERSON"},
        {"text": "tea", "type": "CONCEPT"},
        {"text": "Oslo fjord", "type": "PLACE"},
    ]
    assert shown["resolve_entities"] is False
    assert (too_long.status, too_long.json()["detail"][0]["loc"]) == (422, ["body", "items", 0, "entities", 0, "type"])


def test_other_spellings_are_shown_to_who_sees_the_whole_bank_alone(
    module_database: Database, owner_store: PostgresStore, handler: LambdaHandler, module_store: PostgresStore
) -> None:
    tenant = make_tenant(module_database)
    caller = make_caller(make_services(module_store, tenant))
    limited = Caller(handler, make_key(owner_store, tenant, fact_types=frozenset({"world"})))
    for name in ("Kubernetes", "Kubernets"):
        item = {"content": f"{name} runs.", "entities": [{"text": name}], "timestamp": "2026-03-01"}
        assert caller("POST", f"{BANK}/memories", {"items": [item]}).status == 200
    (listed,) = caller("GET", f"{BANK}/entities").json()["items"]

    whole = caller("GET", f"{BANK}/entities/{listed['id']}").json()
    part = limited("GET", f"{BANK}/entities/{listed['id']}").json()

    assert (whole["mention_count"], whole["metadata"]) == (2, {"spellings": ["Kubernets"]})
    assert (part["canonical_name"], part["mention_count"], part["metadata"]) == ("Kubernetes", 2, {})
