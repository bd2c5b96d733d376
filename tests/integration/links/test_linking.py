"""Which facts are linked when they are retained, and which are not."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from math import nan, sqrt

import psycopg
import pytest

from hindsight_aws.links.rule import link_rule
from hindsight_aws.retain import RetainItem
from hindsight_aws.retain.intake.requests import EntityHint
from tests.integration.links.conftest import NOON, Web, at, towards
from tests.integration.retain.conftest import Workshop
from tests.support.contention import until_blocked
from tests.support.models import fact


@pytest.fixture
def workshop(web: Web) -> Iterator[Workshop]:
    """Retain into the bank of `web`."""
    shop = Workshop(web.database, web.tenant, web.store)
    yield shop
    for twin in shop.twins:
        twin.store.close()


def _links(web: Web, kind: str) -> list[tuple[str, str, float]]:
    rows = web.rows(
        "SELECT a.text AS a, b.text AS b, l.weight FROM memory_links l JOIN memory_units a ON a.id = l.from_unit "
        "JOIN memory_units b ON b.id = l.to_unit WHERE link_type = %s",
        kind,
    )
    return sorted((*sorted((row["a"], row["b"])), round(row["weight"], 2)) for row in rows)


def _dated(hours: float) -> RetainItem:
    return RetainItem(f"After {hours:g}", timestamp=NOON + timedelta(hours=hours))


@pytest.mark.parametrize("together", [True, False], ids=["[R083] in one retain", "[R083] in two"])
def test_events_weigh_the_more_the_nearer_they_are_and_nothing_beyond_a_day(
    web: Web, workshop: Workshop, together: bool
) -> None:
    workshop.has_model = False
    items = [_dated(0), _dated(1), _dated(10), _dated(24), _dated(9600)]

    if together:
        workshop.retain(*items)
    else:
        for item in items:
            workshop.retain(item)

    links = _links(web, "temporal")
    assert [link for link in links if link[0] == "After 0"] == [
        ("After 0", "After 1", 0.96),
        ("After 0", "After 10", 0.58),
    ]
    assert [link[0] for link in links if "After 9600" in link[:2]] == []
    assert ("After 10", "After 24", 0.42) in links


def test_facts_without_a_date_have_no_temporal_links(web: Web, workshop: Workshop) -> None:
    """Case [R084]."""
    workshop.has_model = False

    workshop.retain(RetainItem("One.", timestamp="unset"), RetainItem("Two.", timestamp="unset"), _dated(0))

    assert _links(web, "temporal") == []


def test_a_hundred_facts_of_one_instant_choose_twenty_each(web: Web, workshop: Workshop) -> None:
    """Case [R085]. What each reads and writes does not grow with how many there are; the plan is in test_plans."""
    workshop.has_model = False
    workshop.retain(*(RetainItem(f"Entry {n}", timestamp=NOON) for n in range(100)))

    chosen = web.rows("SELECT from_unit, count(*) AS links FROM memory_links WHERE link_type = 'temporal' GROUP BY 1")
    degrees = [len(web.neighbours(row["id"], "temporal")) for row in web.rows("SELECT id FROM memory_units")]

    assert max(row["links"] for row in chosen) <= 20
    assert sum(row["links"] for row in chosen) <= 100 * 20
    assert (min(degrees), max(degrees) <= 40) == (20, True)


@pytest.mark.usefixtures("fresh_vector_indexes")
@pytest.mark.parametrize("exact", [2_000, 0], ids=["all compared", "by the vector index"])
@pytest.mark.parametrize(
    ("cosine", "linked"),
    [pytest.param(0.69, False, id="[R086] 0.69"), pytest.param(0.70, True, id="[R086] 0.70")],
)
def test_facts_are_linked_by_meaning_from_a_cosine_of_seven_tenths(
    web: Web, workshop: Workshop, cosine: float, linked: bool, exact: int
) -> None:
    workshop.has_model = False
    workshop.configure(hindsight_link_exact_limit=exact)
    workshop.embedder.fixed = {"A": [1.0, 0.0], "B": [cosine, sqrt(1 - cosine**2)]}

    workshop.retain(RetainItem("A", timestamp="unset"))
    workshop.retain(RetainItem("B", timestamp="unset"))

    assert _links(web, "semantic") == ([("A", "B", 0.7)] if linked else [])


@pytest.mark.parametrize("value", [pytest.param(0.0, id="[R086] zero"), pytest.param(nan, id="[R086] no number")])
def test_a_vector_without_direction_links_to_nothing(web: Web, workshop: Workshop, value: float) -> None:
    workshop.has_model = False
    workshop.embedder.fixed = {"A": [value], "B": [value]}

    workshop.retain(RetainItem("A", timestamp="unset"), RetainItem("B", timestamp="unset"), RetainItem("C"))

    assert _links(web, "semantic") == []


@pytest.mark.usefixtures("fresh_vector_indexes")
@pytest.mark.parametrize("exact", [2_000, 0], ids=["all compared", "by the vector index"])
def test_no_fact_is_linked_to_itself_or_to_another_type(web: Web, workshop: Workshop, exact: int) -> None:
    """Case [R087] [R088]."""
    workshop.configure(hindsight_link_exact_limit=exact)
    workshop.model.script = lambda call: {"facts": [
        fact("The depot opens at six"), fact("The depot opens at six", fact_type="experience"),
        fact("The depot opens at seven"), fact("The depot opens at seven", fact_type="experience"),
    ]}  # fmt: skip
    workshop.embedder.same = True

    workshop.retain(RetainItem("x", timestamp=NOON))
    workshop.retain(RetainItem("y", timestamp=NOON))

    links = web.rows(
        "SELECT l.link_type, a.fact_type AS x, b.fact_type AS y, a.id = b.id AS is_loop FROM memory_links l "
        "JOIN memory_units a ON a.id = l.from_unit JOIN memory_units b ON b.id = l.to_unit"
    )
    assert {link["link_type"] for link in links} == {"temporal", "semantic"}
    assert all(link["x"] == link["y"] and not link["is_loop"] for link in links)
    assert len(links) == 2 * 2 * 6


def test_a_fact_chooses_the_twenty_nearest_in_meaning(web: Web) -> None:
    others = web.insert(*(towards(0.7 + n / 100) for n in range(1, 29)))
    (one,) = web.insert(towards(1.0))

    web.link([one])

    assert set(web.neighbours(one, "semantic")) == set(others[-20:])


def test_links_hold_from_both_ends_and_are_stored_once(web: Web) -> None:
    one, other = web.insert(at(0, vector=[1.0]), at(1, vector=[1.0]))

    web.link([one, other])

    for kind in ("temporal", "semantic"):
        assert list(web.neighbours(one, kind)) == [other]
        assert list(web.neighbours(other, kind)) == [one]
    assert len(web.rows("SELECT * FROM memory_links")) == 2


def test_causes_lead_from_the_effect_and_survive_no_missing_end(web: Web, workshop: Workshop) -> None:
    workshop.model.script = lambda call: {"facts": [
        fact("It rained"), fact("The road flooded", caused_by=[0]), fact("The bus was late", caused_by=[0, 1]),
    ]}  # fmt: skip

    workshop.retain(RetainItem("x", timestamp="unset"))

    assert _links(web, "caused_by") == [
        ("It rained", "The bus was late", 1.0),
        ("It rained", "The road flooded", 1.0),
        ("The bus was late", "The road flooded", 1.0),
    ]


def test_no_link_is_made_to_a_fact_that_is_being_removed_and_nobody_waits(web: Web, workshop: Workshop) -> None:
    """Case [R089]."""
    workshop.has_model = False
    workshop.embedder.same = True
    going, staying = web.insert(at(0, vector=[1.0]), at(1, vector=[1.0]))

    with psycopg.connect(web.database.admin_url) as remover:
        remover.execute("DELETE FROM hindsight.memory_units WHERE id = %s", (going,))
        workshop.retain(_dated(0.5))

    (new,) = (row["id"] for row in web.rows("SELECT id FROM memory_units WHERE id <> %s", staying))
    assert list(web.neighbours(new, "temporal")) == [staying]


def test_who_removes_a_fact_waits_for_those_that_are_linking_to_it(web: Web) -> None:
    """Case [R089]. The other way round: the link was first, and goes with the fact."""
    going, staying = web.insert(at(0), at(1))
    web.link([going, staying])
    (new,) = web.insert(at(0.5))
    web.queue(new)
    remover = web.open_twin()

    with ThreadPoolExecutor(1) as pool:
        with web.store.transaction(web.tenant) as tx:
            tx.links.relink_due(web.bank_id, link_rule(web.settings, 3), 10)
            removing = pool.submit(remover.remove, going)
            until_blocked(web.database)
        removing.result(timeout=60)

    assert list(web.neighbours(new, "temporal")) == [staying]
    assert web.queued()["fact"] == {staying, new}


@pytest.mark.parametrize("round_", range(2))
def test_documents_of_linked_facts_replaced_at_once_meet_no_deadlock(web: Web, workshop: Workshop, round_: int) -> None:
    """Case [R128]. Each write removes facts that the others link to, and names entities that the others name."""
    workshop.has_model = False
    workshop.embedder.same = True
    workers = [workshop.open_twin() for _ in range(4)]
    names = ("Ana", "Bo", "Cy", "Di")

    def replace_often(place: int) -> None:
        named = tuple(EntityHint(name) for name in (names[place:] + names[:place])[:3])
        for version in range(6):
            texts = "\n\n".join(f"Version {version} of {place}, {part}. " * 40 for part in range(3))
            workers[place].retain(RetainItem(texts, document_id=f"d{place}", timestamp=NOON, entities=named))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(replace_often, place) for place in range(4)]:
            done.result(timeout=60)

    assert web.rows("SELECT DISTINCT status, attempts FROM operations") == [{"status": "completed", "attempts": 1}]
    facts = {row["id"] for row in web.rows("SELECT id FROM memory_units")}
    web.link(sorted(facts))
    assert all(set(web.neighbours(one, kind)) == facts - {one} for one in facts for kind in ("temporal", "semantic"))
