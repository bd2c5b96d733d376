"""Facts taken out of use and put back: nothing is lost on the way, and nothing is gained."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_aws.curation import Correction, correct
from hindsight_aws.errors import Conflict
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.memories import State
from tests.integration.curation.conftest import BANK, Desk, chain, says

TEXTS = ("It rained.", "The match was off.", "Ann stayed in.", "Bob was cross.")


def causes(desk: Desk) -> set[tuple[str, str]]:
    query = (
        "SELECT f.text AS effect, t.text AS cause FROM memory_links l JOIN memory_units f ON f.id = l.from_unit "
        "JOIN memory_units t ON t.id = l.to_unit WHERE l.link_type = 'caused_by'"
    )
    return {(row["effect"], row["cause"]) for row in desk.rows(query)}


def state(desk: Desk) -> dict[str, list[dict[str, Any]]]:
    """All that a cycle must leave as it was: versions and times of change move, and links are measured anew later."""
    asked = {
        "facts": "SELECT id, fact_type, document_id, chunk_index, ordinal, text, context, embedding::text AS vector, "
        "embedding_model, event_date, occurred_start, occurred_end, mentioned_at, metadata, tags, observation_scopes, "
        "terms, edited_at, created_at FROM memory_units ORDER BY id",
        "archive": "SELECT id FROM invalidated_memory_units",
        "terms": "SELECT fact_type, term, unit_id, tf, length FROM unit_terms ORDER BY unit_id, term",
        "tags": "SELECT tag, unit_id FROM unit_tags ORDER BY unit_id, tag",
        "named": "SELECT unit_id, entity_id FROM unit_entities ORDER BY unit_id, entity_id",
        "entities": "SELECT entity_id, canonical_name, name_key, kind, mention_count FROM entities ORDER BY entity_id",
        "pairs": "SELECT entity_id_1, entity_id_2, cooccurrences FROM entity_cooccurrences ORDER BY 1, 2",
        "causes": "SELECT from_unit, to_unit, link_type, weight FROM memory_links WHERE link_type = 'caused_by' "
        "ORDER BY 1, 2",
        "work": "SELECT fact_id, scope_id, state, outcome FROM consolidation_work ORDER BY 1, 2",
        "counters": "SELECT fact_type, sum(units) AS units, sum(terms) AS terms FROM bank_counters "
        "GROUP BY 1 ORDER BY 1",
    }
    return {name: desk.rows(query) for name, query in asked.items()}


def letter(desk: Desk) -> list[str]:
    ids = desk.retain(
        *chain(*TEXTS, entities=["Ann", "Bob"]), context="a letter", tags=["user:a"], metadata={"k": "v"},
        timestamp="2024-05-01T10:00:00Z",
    )  # fmt: skip
    return [ids[text] for text in TEXTS]


def test_an_invalidated_fact_is_nowhere_but_in_the_archive(desk: Desk) -> None:
    first, *_ = letter(desk)

    shown = desk.patch(first, state="invalidated", reason="hearsay").json()

    assert (shown["state"], shown["invalidation_reason"], shown["entities"]) == (
        "invalidated",
        "hearsay",
        ["Ann", "Bob"],
    )
    assert desk.get(f"/memories/{first}")["text"] == "It rained."
    assert first not in {item["id"] for item in desk.get("/memories/list")["items"]}
    assert [item["id"] for item in desk.get("/memories/list?state=invalidated")["items"]] == [first]
    recalled = desk.call("POST", f"{BANK}/memories/recall", {"query": "It rained."}).json()
    assert first not in {result["id"] for result in recalled["results"]}
    assert desk.rows("SELECT * FROM consolidation_work WHERE fact_id = %s", [first]) == []
    assert desk.unbroken()


def test_archived_facts_of_an_entity_are_listed_by_it(desk: Desk) -> None:
    first, *_ = letter(desk)
    desk.patch(first, state="invalidated")
    (ann,) = desk.rows("SELECT entity_id FROM entities WHERE canonical_name = 'Ann'")

    archived = desk.get(f"/memories/list?state=invalidated&entity_id={ann['entity_id']}")

    assert [item["id"] for item in archived["items"]] == [first]


def test_what_rested_on_an_invalidated_fact_ends_and_its_other_sources_wait(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."), says("Ann rows daily."))
    gone = desk.observe("Ann is a rower.", *ids.values())

    desk.patch(ids["Ann rows."], state="invalidated")

    assert desk.call("GET", f"{BANK}/memories/{gone}").status == 404
    assert desk.pending() == {"Ann rows daily."}


def test_invalidating_again_changes_the_reason_alone(desk: Desk) -> None:
    first, *_ = letter(desk)
    desk.patch(first, state="invalidated", reason="hearsay")
    (before,) = desk.rows("SELECT * FROM invalidated_memory_units")

    again = desk.patch(first, state="invalidated", reason="a lie").json()
    kept = desk.patch(first, state="invalidated").json()

    (after,) = desk.rows("SELECT * FROM invalidated_memory_units")
    assert (again["invalidation_reason"], kept["invalidation_reason"]) == ("a lie", "a lie")
    assert {**after, "reason": None} == {**before, "reason": None}


def test_a_fact_put_back_is_as_it_was_however_often(desk: Desk) -> None:
    """[R124] Text, entities, causes, vector, terms, tags and work are restored; repeated cycles add nothing."""
    ids = letter(desk)
    before = state(desk)
    versions = desk.rows("SELECT sum(version) AS n FROM memory_units")[0]["n"]

    for _ in range(3):
        for memory_id in ids:
            assert desk.patch(memory_id, state="invalidated", reason="r").status == 200
            assert desk.patch(memory_id, state="valid").status == 200
            assert desk.patch(memory_id, state="valid").status == 200

    assert state(desk) == before
    assert desk.rows("SELECT sum(version) AS n FROM memory_units")[0]["n"] > versions
    assert desk.unbroken()


def test_a_fact_put_back_is_linked_anew_and_wakes_its_scope(desk: Desk) -> None:
    first, *_ = letter(desk)
    desk.patch(first, state="invalidated")
    desk.services.noted.scopes.clear()

    desk.patch(first, state="valid")

    assert len(desk.services.noted.scopes) == 1
    queued = desk.rows("SELECT item_id FROM link_maintenance WHERE kind = 'fact'")
    assert first in {str(row["item_id"]) for row in queued}


def test_an_edge_returns_only_when_both_its_ends_are_back(desk: Desk) -> None:
    """[R125] Whichever end is put back first waits for the other."""
    first, second, *_ = letter(desk)
    whole = causes(desk)

    for order in ((first, second), (second, first)):
        for memory_id in (first, second):
            desk.patch(memory_id, state="invalidated")
        with_neither = causes(desk)
        desk.patch(order[0], state="valid")
        with_one = causes(desk)
        desk.patch(order[1], state="valid")

        assert with_neither == {("Bob was cross.", "Ann stayed in.")}
        assert ("The match was off.", "It rained.") not in with_one
        assert causes(desk) == whole


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
def test_any_order_of_cycles_ends_where_it_began(desk: Desk, data: st.DataObject) -> None:
    """[R124] [R125] At every moment the edges are those whose both ends are live."""
    ids = dict(zip(TEXTS, letter(desk), strict=True))
    before, whole = state(desk), causes(desk)
    live = set(TEXTS)

    for text in data.draw(st.lists(st.sampled_from(TEXTS), max_size=12)):
        desk.patch(ids[text], state="invalidated" if text in live else "valid")
        live ^= {text}
        assert causes(desk) == {(effect, cause) for effect, cause in whole if {effect, cause} <= live}
    for text in data.draw(st.permutations(sorted(set(TEXTS) - live))):
        desk.patch(ids[text], state="valid")

    assert state(desk) == before
    assert desk.unbroken()


@pytest.mark.parametrize("round_", range(3))
def test_linked_facts_invalidated_and_put_back_at_once_neither_block_nor_lose_an_edge(desk: Desk, round_: int) -> None:
    """[R124] [R125] Also when every step meets others at work on the peers."""
    ids = letter(desk)
    before = state(desk)
    chance = random.Random(round_)
    desks = [desk.twin() for _ in ids]
    principal = Principal(desk.tenant, "tester")

    def cycle(place: int) -> int:
        own, other = ids[place], ids[(place + chance.randrange(1, 4)) % 4]
        refused = 0
        for memory_id, wanted in ((own, "invalidated"), (other, "valid"), (own, "valid"), (other, "invalidated")):
            try:
                correct(desks[place], principal, "desk", UUID(memory_id), Correction(state=cast("State", wanted)))
            except Conflict:
                refused += 1
        return refused

    with ThreadPoolExecutor(4) as pool:
        refused = list(pool.map(cycle, range(4)))
    for memory_id in ids:
        desk.patch(memory_id, state="valid")

    assert sum(refused) <= 4
    assert state(desk) == before
    assert desk.unbroken()


def test_an_archived_fact_goes_with_its_document_row(desk: Desk) -> None:
    first, *_ = letter(desk)
    desk.patch(first, state="invalidated")

    desk.change("DELETE FROM documents")

    assert desk.rows("SELECT * FROM invalidated_memory_units") == []
    assert desk.patch(first, state="valid").status == 404


def test_what_archived_facts_alone_held_is_queued_once_and_only_when_they_go(desk: Desk) -> None:
    """Another document's end does not look through the archive."""
    for each in letter(desk):
        desk.patch(each, state="invalidated")
    desk.retain(says("Cyd runs."), document_id="other")
    desk.change("DELETE FROM link_maintenance")
    queued = "SELECT item_id FROM link_maintenance WHERE kind = 'entity'"

    desk.delete("/documents/other")
    of_another = desk.rows(queued)
    desk.delete("/memories?type=world")

    assert of_another == []
    assert len(desk.rows(queued)) == len(desk.rows("SELECT * FROM entities")) == 2


def test_the_history_of_the_document_tells_of_both(desk: Desk) -> None:
    first, *_ = letter(desk)

    desk.patch(first, state="invalidated")
    desk.patch(first, state="valid")

    lines = desk.rows(
        "SELECT kind, facts_added, facts_removed, detail ->> 'fact_id' AS fact FROM document_revisions "
        "WHERE kind LIKE 'fact_%%' ORDER BY created_at"
    )
    assert [(line["kind"], line["facts_added"], line["facts_removed"], line["fact"]) for line in lines] == [
        ("fact_invalidated", 0, 1, first),
        ("fact_restored", 1, 0, first),
    ]


def test_the_archive_keeps_every_column_of_a_fact(desk: Desk) -> None:
    """A column that somebody adds to facts must be kept here too, or be made anew."""
    made_anew = {"terms", "scope_id", "proof_count", "created_by", "last_by"}
    asked = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'hindsight' AND table_name = %s"

    facts = {row["column_name"] for row in desk.rows(asked, ["memory_units"])}
    archived = {row["column_name"] for row in desk.rows(asked, ["invalidated_memory_units"])}

    assert facts - archived == made_anew
