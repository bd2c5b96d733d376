"""The graph: which memories and links a caller is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from tests.support.api import Caller
from tests.support.database import Database
from tests.support.golden import schema_errors
from tests.support.units import Unit, insert_units, make_bank

GRAPH = "/v1/default/banks/bank/graph"
BEES, TREES, BEES_AT_NIGHT, ALONE = (uuid4() for _ in range(4))
_TREES_TEXT = "Zoe plants trees with Yan, in rows of twelve"
_AT_NIGHT = datetime(2031, 5, 4, tzinfo=UTC)
_UNITS = (
    Unit("Zoe keeps bees", id=BEES, tags=("user:z",), document="a_b", chunk_index=0, entities=("Zoe",)),
    Unit(_TREES_TEXT, id=TREES, document="a_b", chunk_index=1, entities=("Yan", "Zoe")),
    Unit("Bees sleep", "experience", BEES_AT_NIGHT, tags=("user:z", "x"), occurred_start=_AT_NIGHT),
    Unit("Zoe is a beekeeper", "observation", ALONE, tags=("user:z",), sources=(BEES,)),
)


@pytest.fixture
def graph(database: Database, tenant: TenantId, call: Caller) -> Caller:
    """A client of a bank with links."""
    bank_id = make_bank(database.admin_url, tenant)
    insert_units(database.admin_url, tenant, bank_id, _UNITS)
    with psycopg.connect(database.admin_url) as admin:
        for source, target, kind, weight in (
            (BEES, TREES, "semantic", 0.75), (BEES, TREES, "temporal", 0.5), (TREES, BEES_AT_NIGHT, "caused_by", 1.0),
        ):  # fmt: skip
            admin.execute(
                "INSERT INTO hindsight.memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight) "
                "VALUES (%s, %s, %s, %s, %s, %s)",
                (tenant, bank_id, source, target, kind, weight),
            )
    return call


def _shown(graph: Caller, query: str) -> set[UUID]:
    answer = graph("GET", f"{GRAPH}?{query}").json()
    assert len(answer["nodes"]) == len(answer["table_rows"]) == answer["total_units"]
    return {UUID(node["data"]["id"]) for node in answer["nodes"]}


def test_memories_and_their_links_are_shown_in_the_published_shape(graph: Caller) -> None:
    answer = graph("GET", GRAPH)

    shown = answer.json()
    assert schema_errors("GET", "/v1/default/banks/{bank_id}/graph", 200, shown) == []
    nodes = {node["data"]["id"]: node["data"] for node in shown["nodes"]}
    assert nodes[str(TREES)] | {"color": ""} == {
        "id": str(TREES), "label": "Zoe plants trees with Yan, in ...", "date": "", "context": "", "color": "",
        "text": _TREES_TEXT, "entities": "Yan, Zoe",
    }  # fmt: skip
    edges = {(edge["data"]["source"], edge["data"]["target"], edge["data"]["linkType"]) for edge in shown["edges"]}
    assert edges == {
        (str(BEES), str(TREES), "semantic"),
        (str(BEES), str(TREES), "temporal"),
        (str(TREES), str(BEES_AT_NIGHT), "caused_by"),
    }
    rows = {row["id"]: row for row in shown["table_rows"]}
    assert (rows[str(BEES)]["document_id"], rows[str(BEES)]["chunk_id"]) == ("a_b", "bank_a~5Fb_0")
    assert rows[str(BEES_AT_NIGHT)]["context"] == "N/A"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("type=experience", [BEES_AT_NIGHT]),
        ("type=nonsense", []),
        ("q=BEES", [BEES, BEES_AT_NIGHT]),
        ("tags=user:z&tags=x", [BEES_AT_NIGHT]),
        ("tags=user:z", [BEES, BEES_AT_NIGHT, ALONE]),
        ("tags=user:z&tags_match=exact", [BEES, ALONE]),
        ("tags_match=exact", [TREES]),
        ("document_id=a_b", [BEES, TREES]),
        ("chunk_id=bank_a~5Fb_1", [TREES]),
        ("chunk_id=bank_a~5Fb_1&document_id=other", []),
        ("chunk_id=other_a~5Fb_1", []),
        ("chunk_id=bank_a_b_1", []),
        ("chunk_id=nonsense", []),
    ],
)
def test_the_graph_is_narrowed_by_each_filter(graph: Caller, query: str, wanted: Sequence[UUID]) -> None:
    assert _shown(graph, query) == set(wanted)


def test_a_link_is_shown_only_between_memories_that_are_shown(graph: Caller) -> None:
    narrowed = graph("GET", f"{GRAPH}?tags=user:z").json()
    few = graph("GET", f"{GRAPH}?limit=1").json()
    none = graph("GET", f"{GRAPH}?limit=0").json()

    assert narrowed["edges"] == []
    assert (len(few["nodes"]), few["total_units"], few["edges"]) == (1, 4, [])
    assert (none["nodes"], none["total_units"]) == ([], 4)


def test_the_graph_of_a_bank_that_is_not_there_is_not_found(call: Caller) -> None:
    answer = call("GET", GRAPH)

    assert (answer.status, answer.json()) == (404, {"detail": "Bank 'bank' not found"})
