"""What a run may find and show: the caller's sight holds in every search, and what is not settled is told."""

from __future__ import annotations

import json

import psycopg
import pytest

from hindsight_aws.errors import (
    NotFound,
)
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter, TagLeaf
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.reflect.asked import WHERE, prompt_of
from tests.support.database import Database
from tests.support.reflect import done, make_rig, uses
from tests.support.units import Unit


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def test_expand_withholds_the_document_outside_the_tags(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    opened = uses(("expand", {"reason": "r", "memory_ids": ["f1"], "depth": "document"}))
    rig = make_rig(database, store, tenant, opened, done("In Rome.", "f1"))
    rig.remember(Unit("Bea moved to Rome.", tags=("a",), document="letter", chunk_index=0))
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.documents SET tags = '{b}', original_text = 'secret'")

    rig.answer(ReflectRequest("Where does Bea live?", tags=TagFilter((TagLeaf(frozenset({"a"})),))))

    assert rig.model.calls[1].history[-1].results[0].document["results"] == [
        {"memory_id": "f1", "source_withheld": True}
    ]


def test_another_banks_memories_appear_nowhere(  # [T36]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    from tests.support.units import insert_units, make_bank

    rig = make_rig(database, store, tenant, done("figs", "f1"))
    rig.remember(Unit("Zoe likes figs.", entities=("Zoe",)))
    other = make_bank(database.admin_url, tenant, "y")
    vector = list(rig.embedder.embed(["Zoe likes figs."], "document", lambda _: None)[0].values)
    insert_units(database.admin_url, tenant, other, [Unit("Zoe likes kiwis.", vector=vector, entities=("Zoe",))])

    answer = rig.answer(ReflectRequest("What does Zoe like?", shows_facts=True, shows_tool_calls=True,
                                       shows_tool_output=True))  # fmt: skip

    assert "kiwis" not in json.dumps(answer)
    assert not any("kiwis" in prompt_of(call) for call in rig.model.calls)


def test_a_caller_of_exact_scopes_sees_their_observations_and_nothing_beneath(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("A trend.", "o1"))
    company, personal = Unit("Teams ship on Fridays.", "observation", tags=("company",)), Unit("Bea ships on Fridays.")
    rig.remember(company, personal, Unit("Bea's team ships on Fridays.", "observation", tags=("user:bea",)))
    caller = Principal(tenant, "key", exact_scopes=frozenset({frozenset({"company"})}))

    answer = rig.answer(
        ReflectRequest("When do teams ship on Fridays?", shows_facts=True, shows_tool_calls=True), caller
    )

    call = rig.model.calls[0]
    assert [tool.name for tool in call.tools] == ["search_observations", "done"]
    assert "Bea" not in prompt_of(call)
    assert "Bea" not in json.dumps(answer)
    assert str(company.id) in json.dumps(answer)


def test_forced_tags_narrow_every_search(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("x", "f1"))
    rig.remember(Unit("Bea lives in Rome.", tags=("a",)), Unit("Bea lives in Oslo.", tags=("b",)))
    caller = Principal(tenant, "key", forced_tags=TagLeaf(frozenset({"a"})))

    rig.answer(WHERE, caller)

    assert "Oslo" not in prompt_of(rig.model.calls[0])
    assert "Rome" in prompt_of(rig.model.calls[0])


def test_freshness_is_told_per_scope(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, done("x", "o1"))
    fact = Unit("Bea moved to Oslo.", tags=("b",))
    rig.remember(Unit("Bea lives in Rome.", "observation", tags=("b",)), Unit("Bea lives well.", "observation"), fact)
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "INSERT INTO hindsight.consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id) "
            "SELECT tenant_id, bank_id, gen_random_uuid(), %s, scope_id FROM hindsight.scopes WHERE tags = '{b}'",
            (fact.id,),
        )

    rig.answer(WHERE)

    found = rig.model.calls[0].history[0].results[0].document
    assert isinstance(found["observations"], list)
    behind = {o["text"]: o.get("facts_not_in_it_yet") for o in found["observations"] if isinstance(o, dict)}
    assert behind == {"Bea lives in Rome.": 1, "Bea lives well.": None}
    assert found["freshness"] == "slightly_stale"


def test_facts_that_were_given_up_are_told_apart(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [C136]."""
    rig = make_rig(database, store, tenant, done("x", "o1"))
    fact = Unit("Bea moved to Oslo.", tags=("b",))
    rig.remember(Unit("Bea lives in Rome.", "observation", tags=("b",)), fact)
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "INSERT INTO hindsight.consolidation_work "
            "(tenant_id, bank_id, work_id, fact_id, scope_id, state, failed_at) "
            "SELECT tenant_id, bank_id, gen_random_uuid(), %s, scope_id, 'failed', now() FROM hindsight.scopes "
            "WHERE tags = '{b}' AND tenant_id = %s",
            (fact.id, tenant),
        )

    rig.answer(WHERE)

    found = rig.model.calls[0].history[0].results[0].document
    assert isinstance(found["observations"], list)
    (told,) = found["observations"]
    assert isinstance(told, dict)
    assert (told["facts_not_in_it_yet"], told["facts_given_up"]) == (1, 1)


def test_an_unknown_bank_is_made_for_who_may_write_and_not_there_for_others(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("x"))
    reader = Principal(tenant, "reader", frozenset({Permission.READ}))

    with pytest.raises(NotFound):
        runs.submit(rig.door, reader, "new", WHERE)
    runs.submit(rig.door, rig.principal, "new", WHERE)

    with store.transaction(tenant) as tx:
        assert tx.banks.find("new") is not None
