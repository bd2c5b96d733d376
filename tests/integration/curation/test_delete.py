"""Facts deleted one by one: gone for good, with what rested on them, and not back when their document comes again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID, uuid4

import pytest

from hindsight_aws.curation import Correction, correct, delete_fact
from hindsight_aws.errors import Conflict, NotFound
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.integration.curation.conftest import BANK, Desk, chain, says

TEXTS = ("Ann rows.", "Bob swims.", "Cyd runs.")
TABLES = ("unit_terms", "unit_tags", "unit_entities", "consolidation_work", "observation_evidence")


def letter(desk: Desk) -> dict[str, str]:
    return desk.retain(*chain(*TEXTS, entities=["Ann", "Bob"]), tags=["user:a"], observation_scopes=[[]])


def said_anywhere(desk: Desk, words: str) -> set[str]:
    """Tables that still hold the words; the text that was retained is the document's own."""
    tables = desk.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'hindsight'")
    return {
        name
        for name in (row["tablename"] for row in tables)
        if desk.rows(f"SELECT 1 FROM hindsight.{name} AS r WHERE strpos(r::text, %s) > 0 LIMIT 1", [words])
    }


@pytest.mark.parametrize("archived", [False, True], ids=["valid", "archived"])
def test_a_deleted_fact_is_gone_with_what_rested_on_it_and_every_word_of_it(desk: Desk, archived: bool) -> None:
    ids = letter(desk)
    both = desk.observe("They like water.", ids["Ann rows."], ids["Bob swims."])
    own = desk.observe("A runner.", ids["Cyd runs."])
    if archived:
        desk.patch(ids["Ann rows."], state="invalidated")
    desk.services.noted.scopes.clear()

    answer = desk.delete(f"/memories/{ids['Ann rows.']}")

    assert (answer.status, answer.json()) == (
        200,
        {"success": True, "message": f"Memory '{ids['Ann rows.']}' deleted", "deleted_count": 1},
    )
    assert [desk.call("GET", f"{BANK}/memories/{each}").status for each in (ids["Ann rows."], both)] == [404, 404]
    assert desk.get(f"/memories/{own}")["text"] == "A runner."
    assert desk.pending() == {"Bob swims."}
    assert len(desk.services.noted.scopes) == (0 if archived else 1)
    assert said_anywhere(desk, "Ann rows.") == said_anywhere(desk, "They like water.") == set()
    for table in TABLES:
        assert not desk.rows(f"SELECT FROM {table} AS r WHERE strpos(r::text, %s) > 0", [ids["Ann rows."]]), table
    assert {row["mention_count"] for row in desk.rows("SELECT mention_count FROM entities")} == {2}
    assert {row["cooccurrences"] for row in desk.rows("SELECT cooccurrences FROM entity_cooccurrences")} == {2}
    assert desk.unbroken()


def test_what_is_retained_again_as_it_is_does_not_bring_a_deleted_fact_back(desk: Desk) -> None:
    ids = letter(desk)
    asked = len(desk.services.model.calls)
    desk.delete(f"/memories/{ids['Ann rows.']}")

    same = letter(desk)
    longer = desk.retain(says("Dan dives."), content="a postscript", update_mode="append", tags=["user:a"])

    assert same == {text: ids[text] for text in ("Bob swims.", "Cyd runs.")}
    assert longer.keys() == {*same, "Dan dives."}
    assert len(desk.services.model.calls) == asked + 1
    assert desk.unbroken()


def test_a_fact_deleted_while_its_document_is_retained_again_stays_gone(desk: Desk) -> None:
    ids = letter(desk)
    elsewhere = desk.twin()

    def meanwhile(_call: ModelCall) -> JsonObject:
        with suppress(NotFound):
            delete_fact(elsewhere, Principal(desk.tenant, "tester"), "desk", UUID(ids["Ann rows."]))
        return {"facts": [says("Dan dives.")]}

    desk.services.model.script = meanwhile
    item: JsonObject = {"content": "a postscript", "document_id": "letter", "update_mode": "append"}
    answer = desk.call("POST", f"{BANK}/memories", {"items": [item]})

    assert answer.status == 200, answer.body
    assert {row["text"] for row in desk.rows("SELECT text FROM memory_units")} == {*TEXTS, "Dan dives."} - {"Ann rows."}
    assert desk.unbroken()


def test_what_is_no_fact_of_the_bank_is_refused_and_nothing_changes(desk: Desk) -> None:
    ids = letter(desk)
    seen = desk.observe("They like water.", ids["Ann rows."])
    before = desk.rows("SELECT id, version FROM memory_units ORDER BY id")

    answers = [desk.delete(f"/memories/{each}") for each in (uuid4(), "abc", seen)]
    elsewhere = desk.call("DELETE", f"/v1/default/banks/nobody/memories/{ids['Ann rows.']}")

    assert [answer.status for answer in answers] == [404, 400, 400]
    assert elsewhere.status == 404
    assert "facts that it rests on" in answers[2].json()["detail"]
    assert desk.rows("SELECT id, version FROM memory_units ORDER BY id") == before


def test_a_fact_is_deleted_once(desk: Desk) -> None:
    ids = letter(desk)

    answers = [desk.delete(f"/memories/{ids['Ann rows.']}").status for _ in range(2)]

    assert answers == [200, 404]
    (line,) = desk.rows("SELECT facts_removed, detail FROM document_revisions WHERE kind = 'fact_deleted'")
    assert (line["facts_removed"], line["detail"]["fact_id"]) == (1, ids["Ann rows."])


def test_linked_facts_deleted_while_others_change_them_end_whole(desk: Desk) -> None:
    ids = list(letter(desk).values())
    desks = [desk.twin() for _ in range(4)]
    principal = Principal(desk.tenant, "tester")

    def work(place: int) -> None:
        for turn in range(3):
            memory_id = UUID(ids[(place + turn) % 3])
            try:
                if place % 2:
                    delete_fact(desks[place], principal, "desk", memory_id)
                else:
                    correct(desks[place], principal, "desk", memory_id, Correction(state="invalidated"))
            except (Conflict, NotFound):
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for memory_id in ids:
        desk.delete(f"/memories/{memory_id}")

    for table in ("memory_units", "invalidated_memory_units", "memory_links", *TABLES):
        assert desk.rows(f"SELECT * FROM {table}") == [], table
    assert desk.rows("SELECT * FROM entity_cooccurrences") == []
    assert desk.unbroken()
