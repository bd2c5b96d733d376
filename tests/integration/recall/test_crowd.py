"""A few facts among very many of other banks, all of them nearer to the question: none is missed for that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import Not, TagFilter, TagLeaf, TagsMatch
from hindsight_aws.recall import Budget, RecallQuery, TimeFilter
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import Query
from hindsight_aws.store.session import Session
from tests.conftest import chosen_dose
from tests.support.database import Database, make_tenant
from tests.support.recalling import NORTH, Asking, ToldEmbedder
from tests.support.units import Unit, insert_units, make_bank

_ROWS, _LARGE_BANK = (3_000, 2_400) if chosen_dose() == "small" else (200_000, 20_000)
_OTHER_BANKS = 20
_THEN = datetime(2026, 3, 5, tzinfo=UTC)
_SOME_OF_IT = (1.0, 2.0, 0.0)
"""Less like the question than anything else: its cosine to the question is 0.45, that of the crowd 0.9 and more."""
_RARE, _COMMON = TagLeaf(frozenset({"rare"})), TagLeaf(frozenset({"common"}))
# Vectors are sums of two of 997 that point about where the question does.
_CROWD = """
WITH parts AS MATERIALIZED (
    SELECT n, (SELECT array_agg(CASE WHEN g = 1 THEN 1 ELSE (random() - 0.5 + n * 0) / 20 END)
               FROM generate_series(1, 512) AS g)::real[]::halfvec(512) AS part
    FROM generate_series(0, 996) AS n
)
INSERT INTO hindsight.memory_units (tenant_id, bank_id, id, fact_type, text, embedding, tags)
SELECT b.tenant_id, b.bank_id, gen_random_uuid(), 'world', 'crowd ' || i, p.part + q.part, '{common}'
FROM unnest(%(banks)s::uuid[]) WITH ORDINALITY AS wanted (bank_id, place)
JOIN hindsight.banks AS b ON b.bank_id = wanted.bank_id
CROSS JOIN LATERAL generate_series(1, %(rows)s::bigint) AS i
JOIN parts AS p ON p.n = (i + place * 13) %% 997
JOIN parts AS q ON q.n = (i * 31 + i / 997) %% 997
"""
_COUNTERS = """
INSERT INTO hindsight.bank_counters (tenant_id, bank_id, fact_type, shard, units, terms)
SELECT tenant_id, bank_id, fact_type, 1, count(*), count(*) FROM hindsight.memory_units
WHERE text LIKE 'crowd%%' GROUP BY tenant_id, bank_id, fact_type
"""


@dataclass(frozen=True, slots=True)
class _Crowd:
    """A caller before a bank of three facts and before a large one that holds three like them; both by name."""

    asking: Asking
    facts: dict[str, set[UUID]]


@pytest.fixture(scope="module")
def crowd(module_database: Database) -> Iterator[_Crowd]:
    url = module_database.admin_url
    mine, other = make_tenant(module_database), make_tenant(module_database, "other")
    few, large = make_bank(url, mine, "few"), make_bank(url, mine, "large")
    others = [make_bank(url, mine if number % 2 else other, f"bank {number}") for number in range(_OTHER_BANKS)]
    with psycopg.connect(url, autocommit=True) as admin:
        index = admin.execute("SELECT pg_get_indexdef('hindsight.memory_units_world_vector'::regclass)").fetchone()
        assert index is not None
        admin.execute("DROP INDEX hindsight.memory_units_world_vector")
        admin.execute("SET session_replication_role = replica")
        rows = (_ROWS - _LARGE_BANK) // _OTHER_BANKS
        admin.execute(_CROWD.encode(), {"banks": others, "rows": rows})
        admin.execute(_CROWD.encode(), {"banks": [large], "rows": _LARGE_BANK})
        admin.execute(_COUNTERS.encode())
        admin.execute("SET maintenance_work_mem = '512MB'")
        admin.execute(index[0])
    facts = {}
    for name, bank in (("few", few), ("large", large)):
        units = [Unit(f"bell {n}", vector=_SOME_OF_IT, tags=("rare",), mentioned_at=_THEN) for n in range(3)]
        insert_units(url, mine, bank, units)
        facts[name] = {unit.id for unit in units}
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("ANALYZE hindsight.memory_units, hindsight.unit_tags, hindsight.bank_counters")
    store = PostgresStore(lambda: module_database.read_url)
    settings = Settings(hindsight_environment="local", hindsight_api_recall_exact_scan_limit=500)
    yield _Crowd(Asking(store, mine, Principal(mine, "me"), ToldEmbedder(NORTH), settings), facts)
    store.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the statements that are sent from here on."""
    names: list[str] = []
    send = Session.send

    def noting(session: Session, query: Query, **params: object) -> psycopg.Cursor[tuple[Any, ...]]:
        names.append(query.name)
        return send(session, query, **params)

    monkeypatch.setattr(Session, "send", noting)
    return names


def _found(crowd: _Crowd, bank: str, tags: TagFilter, times: TimeFilter) -> set[UUID]:
    query = RecallQuery("anything", ("world",), Budget.LOW, 100_000, tags, times=times)
    return {result.unit.id for result in crowd.asking.ask(query, bank).results}


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param(TagFilter(), id="no tags"),
        pytest.param(TagFilter((_RARE,)), id="their tag"),
        pytest.param(TagFilter.flat(["rare"], TagsMatch.ANY), id="their tag or none"),
        pytest.param(TagFilter((Not(_COMMON),)), id="not the others' tag"),
    ],
)
def test_the_three_facts_of_a_bank_are_found_among_those_of_others(crowd: _Crowd, tags: TagFilter) -> None:
    assert _found(crowd, "few", tags, TimeFilter()) == crowd.facts["few"]


@pytest.mark.parametrize(
    ("tags", "times", "path"),
    [
        pytest.param(TagFilter((_RARE,)), TimeFilter(), ["semantic_tagged"], id="their tag"),
        pytest.param(
            TagFilter((Not(_COMMON),)),
            TimeFilter(),
            ["semantic_index_world", "semantic_exact"],
            id="not the others' tag",
        ),
        pytest.param(
            TagFilter(),
            TimeFilter(only_between=(_THEN, _THEN)),
            ["semantic_index_world", "semantic_exact"],
            id="their time",
        ),
    ],
)
def test_the_three_that_pass_are_found_among_the_many_of_their_own_bank(
    crowd: _Crowd, sent: list[str], tags: TagFilter, times: TimeFilter, path: list[str]
) -> None:
    """Where a shared index ends before it met enough that pass, every vector of the bank is read."""
    assert _found(crowd, "large", tags, times) == crowd.facts["large"]
    assert [name for name in sent if name.startswith("semantic")] == path


def test_the_shared_index_answers_a_large_bank_with_its_own_facts_alone(crowd: _Crowd, sent: list[str]) -> None:
    query = RecallQuery("anything", ("world",), Budget.LOW, 100_000)

    answer = crowd.asking.ask(query, "large")

    assert "semantic_index_world" in sent
    assert "semantic_exact" not in sent
    assert len(answer.results) == 100
    assert not {result.unit.id for result in answer.results} & crowd.facts["few"]
