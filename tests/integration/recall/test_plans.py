"""How Postgres reads for recall, as the role that reads and under forced row-level security, on tables with statistics.

An index serves an app role only through leakproof operators: a plan that reads a large table without the bank's keys in
an index condition would read every tenant's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import sql

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import Not, TagFilter, TagLeaf, TagsMatch
from hindsight_aws.recall import Budget, MinScores, RecallQuery, TimeFilter
from hindsight_aws.recall.request import FACT_TYPES
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vector_path import VectorPath
from tests.support.database import Database, make_tenant
from tests.support.graph_rows import fill_graph
from tests.support.recalling import Asking, ToldEmbedder
from tests.support.units import fill_bank, make_bank

_LARGE = {
    "memory_units", "unit_terms", "unit_tags", "unit_entities", "memory_links", "observation_evidence", "documents",
    "chunks", "consolidation_work", "entities",
}  # fmt: skip
_LARGE_BANK, _SMALL_BANK, _OTHERS, _EXPERIENCES = 5_000, 500, 2_000, 300
_TOPICS = ("recall", "expansion", "past")
_PARAMETER = re.compile(r"%\((\w+)\)s")

Plan = dict[str, Any]


@pytest.fixture(scope="module")
def tenant_of_banks(module_database: Database) -> TenantId:
    """A tenant with a large and a small bank, beside a bank of another tenant."""
    tenant, other = make_tenant(module_database), make_tenant(module_database, "other")
    url = module_database.admin_url
    with psycopg.connect(url, autocommit=True) as admin:
        index = admin.execute("SELECT pg_get_indexdef('hindsight.memory_units_world_vector'::regclass)").fetchone()
        assert index is not None
        admin.execute("DROP INDEX hindsight.memory_units_world_vector")
        fill_bank(url, other, make_bank(url, other, "others"), _OTHERS, embedded_percent=5)
        fill_bank(url, tenant, make_bank(url, tenant, "small"), _SMALL_BANK, documents=True)
        fill_bank(url, tenant, make_bank(url, tenant, "large"), _LARGE_BANK, embedded_percent=25, documents=True)
        fill_bank(url, tenant, make_bank(url, tenant, "lived"), _EXPERIENCES, "experience")
        admin.execute("SET search_path = hindsight, public")
        admin.execute(index[0])
        fill_graph(admin)
        admin.execute("""UPDATE banks SET config = '{"recall_budget_fixed_low": 3, "recall_budget_fixed_high": 400}'""")
    return tenant


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Plan]]:
    """Every statement that a session sends from here on, by name, with the plan it was run by."""
    seen: list[tuple[str, Plan]] = []

    def watched(name: str) -> None:
        run = getattr(Session, name)

        def watching(session: Session, query: Query, **params: object) -> object:
            if b"SAVEPOINT" not in query.text:
                bound = {**params, "tenant_id": session.tenant_id}
                seen.append((query.name, _explained(session.connection, query, bound)))
            return run(session, query, **params)

        monkeypatch.setattr(Session, name, watching)

    @contextmanager
    def one_by_one(_session: Session) -> Iterator[None]:
        yield

    for way in ("send", "tuples", "rows", "row", "execute"):
        watched(way)
    monkeypatch.setattr(Session, "pipeline", one_by_one)
    return seen


@pytest.mark.parametrize("bank", ["small", "large"])
@pytest.mark.parametrize(
    "tags",
    [
        pytest.param(TagFilter(), id="no filter"),
        pytest.param(TagFilter.flat(["user:7"], TagsMatch.ANY_STRICT), id="a rare tag"),
        pytest.param(TagFilter.flat(["group:7"], TagsMatch.ANY), id="a tag or none"),
        pytest.param(TagFilter((Not(TagLeaf(frozenset({"group:7"}))),)), id="all but a tag"),
    ],
)
def test_recall_reads_large_tables_by_the_banks_keys_alone(
    module_database: Database, tenant_of_banks: TenantId, plans: list[tuple[str, Plan]], bank: str, tags: TagFilter
) -> None:
    store = PostgresStore(lambda: module_database.read_url)
    settings = Settings(
        hindsight_environment="local",
        hindsight_api_recall_exact_scan_limit=2_000,
        hindsight_api_graph_seed_min_similarity=-1,
        hindsight_api_temporal_semantic_min_similarity=-1,
    )
    asking = Asking(store, tenant_of_banks, Principal(tenant_of_banks, "me"), ToldEmbedder(), settings)

    floors = MinScores(semantic=-1.0)
    query = RecallQuery(
        "term3 term50 term700 in the last 3 hours",
        tags=tags,
        min_scores=floors,
        chunk_tokens=500,
        source_tokens=500,
        with_quotes=True,
        with_trace=True,
    )
    answer = asking.ask(query, bank)
    store.close()

    assert answer.results
    assert {"keyword", "units", "dated", "near", "linked"} <= {name for name, _ in plans}
    assert _wrongs(plans) == []


@pytest.mark.parametrize("bank", ["small", "large"])
def test_observations_are_read_by_the_banks_keys_alone(
    module_database: Database, tenant_of_banks: TenantId, plans: list[tuple[str, Plan]], bank: str
) -> None:
    store = PostgresStore(lambda: module_database.read_url)
    settings = Settings(hindsight_environment="local", hindsight_api_graph_seed_min_similarity=-1)
    asking = Asking(store, tenant_of_banks, Principal(tenant_of_banks, "me"), ToldEmbedder(), settings)

    answer = asking.ask(
        RecallQuery("tea", ("observation",), min_scores=MinScores(semantic=-1.0), source_tokens=500, with_quotes=True),
        bank,
    )
    store.close()

    assert answer.results
    assert {"near_observations", "quotes", "sources", "freshness"} <= {name for name, _ in plans}
    assert _wrongs(plans) == []


def test_no_statement_of_recall_reads_a_large_table_otherwise(
    module_database: Database, tenant_of_banks: TenantId, plans: list[tuple[str, Plan]]
) -> None:
    """Every way that recall goes, and with them every statement that it has."""
    store = PostgresStore(lambda: module_database.read_url)
    every: dict[str, Any] = {
        "hindsight_environment": "local",
        "hindsight_api_recall_exact_scan_limit": 20,
        "hindsight_api_graph_seed_min_similarity": -1,
        "hindsight_api_temporal_semantic_min_similarity": -1,
    }
    asking = Asking(
        store, tenant_of_banks, Principal(tenant_of_banks, "me"), ToldEmbedder(), Settings.model_validate(every)
    )
    question, floors, now = "term3 term50 in the last 3 hours", MinScores(semantic=-1.0), datetime.now(UTC)
    rare = TagFilter.flat(["user:7"], TagsMatch.ANY_STRICT)
    fuzzy = TagFilter((TagLeaf(frozenset({"user:7"}), resolve="fuzzy"),))

    for bank in ("large", "lived", "small"):
        whole: dict[str, Any] = {
            "budget": Budget.LOW, "min_scores": floors, "chunk_tokens": 500, "source_tokens": 500, "with_quotes": True,
            "with_trace": True, "prefer_observations": True,
        }  # fmt: skip
        asking.ask(RecallQuery(question, **whole), bank)
        asking.ask(RecallQuery(question, tags=rare, **whole), bank)
        asking.ask(RecallQuery(question, tags=fuzzy, **whole), bank)
        for types in (FACT_TYPES, ("observation",)):
            asking.ask(RecallQuery(question, types, times=TimeFilter(as_of=now), **whole), bank)
        asking.ask(RecallQuery(question, deadline_ms=20_000, **whole), bank)
    asking.ask_all(question, ["large", "small"])
    store.close()

    statements = {name for topic in _TOPICS for name in queries(topic)} | {"names", "find"}
    assert statements - {name for name, _ in plans} == set()
    assert _wrongs(plans) == []


def test_a_large_bank_is_searched_through_the_shared_index(
    module_database: Database, tenant_of_banks: TenantId, plans: list[tuple[str, Plan]]
) -> None:
    store = PostgresStore(lambda: module_database.read_url)
    settings = Settings(hindsight_environment="local", hindsight_api_recall_exact_scan_limit=2_000)

    Asking(store, tenant_of_banks, Principal(tenant_of_banks, "me"), ToldEmbedder(), settings).ask("term3", "large")
    store.close()

    (plan,) = [plan for name, plan in plans if name == f"semantic_{VectorPath.INDEX.value}_world"]
    assert "memory_units_world_vector" in {node.get("Index Name") for node in _nodes(plan)}


def test_a_high_budget_brings_more_than_the_index_looks_at_first(
    module_database: Database, tenant_of_banks: TenantId
) -> None:
    """[Q015]."""
    store = PostgresStore(lambda: module_database.read_url)
    settings = Settings(hindsight_environment="local", hindsight_api_recall_exact_scan_limit=100)
    asking = Asking(store, tenant_of_banks, Principal(tenant_of_banks, "me"), ToldEmbedder(), settings)
    floors = MinScores(semantic=-1.0)

    trace: Any = asking.ask(
        RecallQuery("tea", ("world",), Budget.HIGH, min_scores=floors, with_trace=True), "large"
    ).trace
    store.close()

    (semantic,) = [arm for arm in trace["retrieval_results"] if arm["method"] == "semantic"]
    assert semantic["candidates"] == 400


def test_the_watch_sees_a_sequential_scan_and_an_index_used_without_the_banks_keys(
    module_database: Database, tenant_of_banks: TenantId
) -> None:
    store = PostgresStore(lambda: module_database.read_url)
    whole = Query("whole", "", b"SELECT sum(length(text)) FROM memory_units WHERE tenant_id = %(tenant_id)s")
    keyless = Query("keyless", "", b"SELECT tf FROM unit_terms WHERE tenant_id = %(tenant_id)s LIMIT 5")
    by_operator = Query("by_operator", "", b"SELECT id FROM memory_units WHERE tags && '{user:7}'")

    with store.transaction(tenant_of_banks) as tx:
        bound: dict[str, object] = {"tenant_id": tenant_of_banks}
        seen = [
            (query.name, _explained(tx.session.connection, query, bound)) for query in (whole, keyless, by_operator)
        ]
    store.close()

    assert [wrong.split(":")[0] for wrong in _wrongs(seen)] == ["whole", "keyless", "by_operator"]


def test_the_bank_is_one_among_others(tenant_of_banks: TenantId, module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url) as admin:
        facts = "SELECT count(*) FROM hindsight.memory_units WHERE fact_type = 'world'"
        (rows,) = admin.execute(facts.encode()).fetchone() or (0,)

    assert rows == _LARGE_BANK + _SMALL_BANK + _OTHERS


def _explained(connection: psycopg.Connection[Any], query: Query, params: dict[str, object]) -> Plan:
    """The plan by which the transaction, as it is set, would run the statement as prepared."""
    names: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    text = _PARAMETER.sub(numbered, query.text.decode())
    types = ", ".join("uuid" if name in ("tenant_id", "bank_id") else "unknown" for name in names)
    values = sql.SQL(", ").join(sql.Literal(params[name]) for name in names)
    connection.execute(f"PREPARE explained ({types}) AS {text}" if names else f"PREPARE explained AS {text}")
    execute = sql.SQL("EXECUTE explained({})").format(values) if names else sql.SQL("EXECUTE explained")
    row = connection.execute(sql.SQL("EXPLAIN (FORMAT JSON) {}").format(execute)).fetchone()
    connection.execute("DEALLOCATE explained")
    assert row is not None
    plan: Plan = row[0][0]["Plan"]
    return plan


def _wrongs(plans: list[tuple[str, Plan]]) -> list[str]:
    """Every scan of a large table that is neither by tenant and bank in an index condition nor in vector order."""
    return [
        f"{name}: {node['Node Type']} on {node.get('Relation Name', node.get('Index Name'))}: {node.get('Index Cond')}"
        for name, plan in plans
        for node in _nodes(plan)
        if _is_scan_of_large(node) and not _is_by_keys(node) and not _is_by_vector(node)
    ]


def _is_scan_of_large(node: Plan) -> bool:
    if node["Node Type"] == "Bitmap Index Scan":
        return any(node["Index Name"].startswith(table) for table in _LARGE)
    return node.get("Relation Name") in _LARGE and node["Node Type"] != "Bitmap Heap Scan"


def _is_by_keys(node: Plan) -> bool:
    condition = node.get("Index Cond", "")
    return "tenant_id =" in condition and "bank_id =" in condition


def _is_by_vector(node: Plan) -> bool:
    return "<=>" in node.get("Order By", "")


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
