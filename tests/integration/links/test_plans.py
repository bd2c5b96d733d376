"""How Postgres finds whom to link, as the role that writes and under forced row-level security, with statistics.

What a fact costs must not grow with how many facts share its instant, or its bank.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.links.rule import MOST
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from tests.support.database import Database, make_tenant
from tests.support.units import fill_bank, make_bank

Plan = dict[str, Any]

_SQL = queries("links")
_FACTS, _OTHERS, _ASKING = 6_000, 2_000, 100
_LARGE = {"memory_units", "memory_links", "link_maintenance", "unit_entities"}


@pytest.fixture(scope="module")
def crowd(module_database: Database) -> tuple[TenantId, BankId]:
    """A bank where all facts happened at one instant, half of them linked, beside another tenant's."""
    url = module_database.admin_url
    tenant, other = make_tenant(module_database), make_tenant(module_database, "other")
    bank = make_bank(url, tenant)
    fill_bank(url, other, make_bank(url, other), _OTHERS, embedded_percent=10)
    fill_bank(url, tenant, bank, _FACTS, embedded_percent=25)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        admin.execute(
            "UPDATE memory_units SET event_date = '2031-05-04 12:00+00', "
            "fact_type = CASE extract(minute FROM mentioned_at)::integer % 3 WHEN 0 THEN 'experience' ELSE 'world' END"
        )
        admin.execute(
            "INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type) "
            "SELECT tenant_id, bank_id, id, other, 'temporal' FROM ("
            "SELECT tenant_id, bank_id, id, lead(id) OVER (PARTITION BY bank_id ORDER BY id) AS other FROM memory_units"
            ") AS pairs WHERE other IS NOT NULL"
        )
        admin.execute(
            "INSERT INTO link_maintenance (tenant_id, bank_id, item_id) SELECT tenant_id, bank_id, id FROM memory_units"
        )
        admin.execute("VACUUM (ANALYZE) memory_units, memory_links, link_maintenance")
    return tenant, bank


@pytest.fixture
def session(module_database: Database, crowd: tuple[TenantId, BankId]) -> Iterator[Session]:
    store = PostgresStore(lambda: module_database.write_url)
    with store.transaction(crowd[0]) as tx:
        yield tx.session
    store.close()


def test_facts_of_one_instant_are_found_by_the_index_and_no_more_of_them_are_read_than_are_linked(
    session: Session, crowd: tuple[TenantId, BankId]
) -> None:
    """Case [R085]. What is read is at most forty rows for each fact asked about, of six thousand at its instant."""
    ids = _ids(session, crowd)

    plan = _run(session, "near_in_time", crowd, ids=ids, links=[0] * len(ids), most=MOST, within=timedelta(hours=24))

    scans = [node for node in _nodes(plan) if node.get("Relation Name") == "memory_units"]
    in_time = [node for node in scans if "ROW(" in node.get("Index Cond", "")]
    assert [node["Index Name"] for node in in_time] == ["memory_units_event"] * 2
    assert sum(_read(node) for node in in_time) <= 2 * MOST * len(ids)
    assert sum(_read(node) for node in scans) <= (2 * MOST + 1) * len(ids)
    assert _strays(plan) == []


def test_a_large_bank_is_searched_through_the_index_of_the_facts_own_type_alone(
    session: Session, crowd: tuple[TenantId, BankId]
) -> None:
    ids = _ids(session, crowd)
    session.execute(_SQL["search_by_index"], tuples="20000")

    plan = _run(session, "near_by_index", crowd, ids=ids, links=[0] * len(ids), most=MOST, farthest=0.3)

    ran = [node for node in _nodes(plan) if node["Actual Loops"]]
    by_index = {node["Index Name"]: node for node in ran if "_vector" in node.get("Index Name", "")}
    assert set(by_index) == {"memory_units_world_vector", "memory_units_experience_vector"}
    assert sum(node["Actual Loops"] for node in by_index.values()) == len(ids)
    assert _strays(plan) == []


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("take_out", {"facts_stay": False, "at_most": 50_000}),
        ("degrees", {"kind": "temporal"}),
        ("queue_entities", {}),
        ("recount_cooccurrences", {}),
    ],
)
def test_what_removal_and_maintenance_ask_is_found_by_the_banks_keys(
    session: Session, crowd: tuple[TenantId, BankId], name: str, asked: dict[str, object]
) -> None:
    plan = _run(session, name, crowd, ids=_ids(session, crowd)[:10], **asked)

    assert _strays(plan) == []


def test_the_queue_is_read_from_its_front(session: Session, crowd: tuple[TenantId, BankId]) -> None:
    plan = _run(session, "due", crowd, kind="fact", at_most=50)

    (scan,) = (node for node in _nodes(plan) if node.get("Relation Name") == "link_maintenance")
    assert _read(scan) <= 100


def _ids(session: Session, crowd: tuple[TenantId, BankId]) -> list[UUID]:
    """Facts of the bank, of both types, with vectors."""
    found = session.connection.execute(
        b"SELECT id FROM memory_units WHERE tenant_id = %s AND bank_id = %s AND embedding IS NOT NULL "
        b"ORDER BY id LIMIT %s", (*crowd, _ASKING),
    )  # fmt: skip
    return [row[0] for row in found.fetchall()]


def _run(session: Session, name: str, crowd: tuple[TenantId, BankId], **asked: object) -> Plan:
    """The plan by which the statement was run, with what it read."""
    params = {"tenant_id": crowd[0], "bank_id": crowd[1], **asked}
    text = b"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + _SQL[name].text
    row = session.connection.execute(text, params).fetchone()
    assert row is not None
    answer = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    plan: Plan = answer[0]["Plan"]
    return plan


def _strays(plan: Plan) -> list[str]:
    """Scans of large tables that neither know the bank nor go by vector order."""
    return [
        f"{node['Node Type']} on {node['Relation Name']}"
        for node in _nodes(plan)
        if node.get("Relation Name") in _LARGE
        and node["Node Type"] not in ("ModifyTable", "Bitmap Heap Scan", "LockRows")
        and "bank_id =" not in node.get("Index Cond", "")
        and "<=>" not in node.get("Order By", "")
    ]


def _read(node: Plan) -> float:
    """Rows that a scan looked at, over all its loops."""
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + removed) * node["Actual Loops"])


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
