"""The graph arm: what entities, likeness and cause lead to, within caps that hold the filters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.tags import TagFilter, TagLeaf, TagsMatch
from hindsight_aws.recall import RecallQuery, fact_types_of
from hindsight_aws.settings import Settings
from tests.support.database import Database
from tests.support.recalling import EAST, NORTH, Asking
from tests.support.units import Unit, insert_links, insert_units, make_bank


def _arm(asking: Asking, fact_type: str = "world", **more: Any) -> dict[str, float]:
    """What the graph arm finds of a type: activation by text, the strongest first."""
    trace: Any = asking.ask(RecallQuery("tea", with_trace=True, **more)).trace
    return {
        hit["text"]: hit["score"]
        for arm in trace["retrieval_results"]
        if (arm["method"], arm["fact_type"]) == ("graph", fact_type)
        for hit in arm["results"]
    }


def test_shared_entities_activate_the_more_the_more_there_are(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q024]."""
    insert_units(
        database.admin_url, tenant, bank,
        [
            Unit("tea", vector=NORTH, entities=("Mara", "Oslo", "Kettle")),
            Unit("cups", vector=EAST, entities=("Mara",)),
            Unit("water", vector=EAST, entities=("Mara", "Oslo", "Kettle")),
            Unit("tram", vector=EAST, entities=("Bergen",)),
        ],
    )  # fmt: skip

    found = _arm(asking)

    assert list(found) == ["water", "cups"]
    assert found == {"water": pytest.approx(0.905, abs=1e-3), "cups": pytest.approx(0.462, abs=1e-3)}


def test_what_only_the_graph_finds_comes_after_all_else(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [
        Unit("cups", vector=EAST, entities=("Mara",)),
        Unit("tea", vector=NORTH, entities=("Mara",)),
        Unit("a word on tea", vector=EAST),
    ]
    insert_units(database.admin_url, tenant, bank, units)

    assert asking.texts("tea") == ["tea", "a word on tea", "cups"]


def test_likeness_and_cause_lead_on_in_either_direction_and_the_strongest_counts(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    seed, second = Unit("tea", vector=NORTH), Unit("tea leaves", vector=NORTH)
    like, cause, effect = (Unit(text, vector=EAST) for text in ("milk", "thirst", "sleep"))
    insert_units(database.admin_url, tenant, bank, [seed, second, like, cause, effect])
    insert_links(
        database.admin_url, tenant, bank,
        [
            (like.id, seed.id, "semantic", 0.75),
            (second.id, like.id, "semantic", 0.8),
            (seed.id, cause.id, "caused_by", 0.9),
            (effect.id, seed.id, "caused_by", 0.5),
            (seed.id, second.id, "semantic", 1.0),
            (seed.id, effect.id, "temporal", 1.0),
        ],
    )  # fmt: skip

    found = _arm(asking)

    assert found == {
        "thirst": pytest.approx(0.9),
        "milk": pytest.approx(0.8),
        "sleep": pytest.approx(0.5),
    }


def test_an_entity_leads_to_its_newest_facts_up_to_the_cap(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q025]."""
    crowd = [Unit(f"cup {number}", vector=EAST, entities=("Mara",)) for number in range(30)]
    insert_units(database.admin_url, tenant, bank, [*crowd, Unit("tea", vector=NORTH, entities=("Mara",))])
    with psycopg.connect(database.admin_url) as admin:
        for number, unit in enumerate(crowd):
            admin.execute(
                "UPDATE hindsight.unit_entities SET linked_at = now() + make_interval(mins => %s) WHERE unit_id = %s",
                (number, unit.id),
            )
    capped = replace(
        asking, settings=Settings(hindsight_environment="local", hindsight_api_link_expansion_per_entity_limit=20)
    )

    assert set(_arm(capped)) == {f"cup {number}" for number in range(10, 30)}


def test_an_entity_of_half_the_bank_counts_little(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    crowd = [Unit(f"cup {number}", vector=EAST, entities=("Everybody",)) for number in range(120)]
    seed = Unit("tea", vector=NORTH, entities=("Everybody", "Oslo"))
    insert_units(database.admin_url, tenant, bank, [*crowd, seed, Unit("rain", vector=EAST, entities=("Oslo",))])

    found = _arm(asking)

    assert found["rain"] == pytest.approx(0.462, abs=1e-3)
    assert found["cup 7"] < 0.21


def test_filters_hold_within_the_cap(database: Database, tenant: TenantId, bank: BankId, asking: Asking) -> None:
    """[Q027] [Q028]."""
    crowd = [Unit(f"cup {number}", vector=EAST, entities=("Mara",), tags=("b",)) for number in range(300)]
    one = Unit("her cup", vector=EAST, entities=("Mara",), tags=("a",))
    seed = Unit("tea", vector=NORTH, entities=("Mara",), tags=("a",))
    insert_units(database.admin_url, tenant, bank, [one, *crowd, seed])
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.unit_entities SET linked_at = now() - interval '1 year' WHERE unit_id = %s", (one.id,)
        )

    tags = TagFilter.flat(["a"], TagsMatch.ANY_STRICT)

    assert set(_arm(asking, tags=tags)) == {"her cup"}
    assert set(_arm(asking.limited(forced_tags=TagLeaf(frozenset({"a"}))))) == {"her cup"}


def test_observations_are_reached_over_the_facts_they_rest_on(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q029]."""
    leaves, cups, saucers = (Unit(text, vector=EAST, entities=("Mara",)) for text in ("leaves", "cups", "saucers"))
    alike = Unit("pots", vector=EAST)
    seed = Unit("tea is liked", "observation", vector=NORTH, sources=(leaves.id,))
    other_seed = Unit("tea is drunk", "observation", vector=NORTH, sources=(cups.id,))
    by_two = Unit("she collects china", "observation", vector=EAST, sources=(cups.id, saucers.id))
    by_likeness = Unit("pots are warm", "observation", vector=EAST, sources=(alike.id,))
    alone = Unit("trams are late", "observation", vector=EAST, sources=())
    insert_units(
        database.admin_url, tenant, bank, [leaves, cups, saucers, alike, seed, other_seed, by_two, by_likeness, alone]
    )
    insert_links(database.admin_url, tenant, bank, [(alike.id, leaves.id, "semantic", 0.8)])

    found = _arm(asking, "observation", fact_types=fact_types_of(["observation"]))

    assert found == {
        "pots are warm": pytest.approx(0.8),
        "she collects china": pytest.approx(0.462, abs=1e-3),
    }


def test_facts_that_the_caller_may_not_see_lead_nowhere(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    mine = Unit("leaves", vector=EAST, entities=("Mara",), tags=("me",))
    hers = Unit("letters", vector=EAST, entities=("Mara",), tags=("her",))
    seed = Unit("tea is liked", "observation", vector=NORTH, tags=("me",), sources=(mine.id,))
    bridged = Unit("post is late", "observation", vector=EAST, tags=("me",), sources=(hers.id,))
    insert_units(database.admin_url, tenant, bank, [mine, hers, seed, bridged])
    company = asking.limited(exact_scopes=frozenset({frozenset({"me"})}))

    assert set(_arm(asking, "observation")) == {"post is late"}
    assert _arm(asking.limited(forced_tags=TagLeaf(frozenset({"me"}))), "observation") == {}
    assert _arm(company, "observation") == {}


def test_neither_another_bank_nor_another_type_is_reached(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    other = make_bank(database.admin_url, tenant, "next")
    insert_units(database.admin_url, tenant, other, [Unit("elsewhere", vector=EAST, entities=("Mara",))])
    units = [
        Unit("tea", vector=NORTH, entities=("Mara",)),
        Unit("seen", "experience", vector=EAST, entities=("Mara",)),
    ]
    insert_units(database.admin_url, tenant, bank, units)

    assert asking.texts("tea") == ["tea"]


def test_a_bank_may_turn_its_graph_arm_off(database: Database, tenant: TenantId, bank: BankId, asking: Asking) -> None:
    """[Q023] of the graph arm."""
    units = [Unit("tea", vector=NORTH, entities=("Mara",)), Unit("cups", vector=EAST, entities=("Mara",))]
    insert_units(database.admin_url, tenant, bank, units)
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("""UPDATE hindsight.banks SET config = '{"enable_graph_retrieval": false}'""")

    trace: Any = asking.ask(RecallQuery("tea", with_trace=True)).trace

    assert "graph" not in {arm["method"] for arm in trace["retrieval_results"]}
    assert asking.texts("tea") == ["tea"]


def test_a_graph_that_takes_too_long_is_left_out_and_the_trace_says_so(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q030]."""
    crowd = [Unit(f"cup {number}", vector=EAST, entities=("Mara",)) for number in range(200)]
    insert_units(database.admin_url, tenant, bank, [*crowd, Unit("tea", vector=NORTH, entities=("Mara",))])
    hurried = replace(
        asking, settings=Settings(hindsight_environment="local", hindsight_api_link_expansion_timeout=0.05)
    )
    query = RecallQuery("tea", with_entities=False, with_trace=True)

    with _slow_entities(database):
        answer: Any = hurried.ask(query)

    assert [hit.unit.text for hit in answer.results] == ["tea"]
    assert answer.trace["summary"]["degraded"] == ["graph"]
    assert len(asking.ask(query).results) == 201


@contextmanager
def _slow_entities(database: Database) -> Iterator[None]:
    """Every reading of an entity's row waits."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            "CREATE POLICY slow ON hindsight.unit_entities AS RESTRICTIVE FOR SELECT TO hindsight_read "
            "USING (pg_sleep(CASE WHEN unit_id IS NULL THEN 0 ELSE 0.1 END) IS NOT NULL)"
        )
        try:
            yield
        finally:
            admin.execute("DROP POLICY slow ON hindsight.unit_entities")


def test_the_graph_gives_the_same_answer_every_time(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [Unit(f"cup {number}", vector=EAST, entities=("Mara", "Oslo")) for number in range(40)]
    insert_units(database.admin_url, tenant, bank, [*units, Unit("tea", vector=NORTH, entities=("Mara", "Oslo"))])

    first = list(_arm(asking))

    assert len(first) == 40
    assert list(_arm(asking)) == first
