"""Memories cleared: all, by type, observations, and what rests on one fact; and a clear that reads again what went."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.curation import clear
from tests.integration.curation.conftest import BANK, Desk, chain, says
from tests.support.models import fact


def observed(desk: Desk) -> dict[str, str]:
    """Two world facts with an observation on both, and an experience with one of its own."""
    ids = desk.retain(says("Ann rows."), says("Bob swims."), fact("I booked a boat.", fact_type="experience"))
    both = desk.observe("They like water.", ids["Ann rows."], ids["Bob swims."])
    own = desk.observe("A boat is booked.", ids["I booked a boat."])
    return ids | {"both": both, "own": own}


def texts(desk: Desk) -> set[str]:
    return {item["text"] for item in desk.get("/memories/list")["items"]}


def test_clearing_a_bank_takes_every_memory_and_leaves_bank_documents_and_settings(desk: Desk) -> None:
    ids = observed(desk)
    desk.patch(ids["Bob swims."], state="invalidated")
    desk.call("PATCH", f"{BANK}/config", {"updates": {"retain_mission": "m"}})

    answer = desk.delete("/memories")

    assert answer.json() == {
        "success": True,
        "message": "Cleared 3 memory unit(s) from bank 'desk'",
        "deleted_count": 3,
    }
    assert desk.get("/memories/list")["total"] == desk.get("/memories/list?state=invalidated")["total"] == 0
    assert desk.get("/documents")["total"] == 1
    assert desk.get("/config")["overrides"] == {"retain_mission": "m"}
    for table in (
        "unit_terms",
        "unit_tags",
        "unit_entities",
        "memory_links",
        "consolidation_work",
        "observation_evidence",
    ):
        assert desk.rows(f"SELECT * FROM {table}") == [], table
    assert desk.rows("SELECT * FROM observation_revisions WHERE text IS NOT NULL") == []
    assert desk.unbroken()


def test_clearing_a_type_ends_what_rested_on_it_and_nothing_else(desk: Desk) -> None:
    observed(desk)

    answer = desk.delete("/memories?type=world")

    assert answer.json()["deleted_count"] == 2
    assert answer.json()["message"] == "Cleared 2 memory unit(s) of type 'world' from bank 'desk'"
    assert texts(desk) == {"I booked a boat.", "A boat is booked."}
    assert desk.unbroken()


def test_clearing_observations_as_a_type_leaves_their_facts_as_they_are(desk: Desk) -> None:
    observed(desk)

    answer = desk.delete("/memories?type=observation")

    assert answer.json()["deleted_count"] == 2
    assert texts(desk) == {"Ann rows.", "Bob swims.", "I booked a boat."}
    assert desk.pending() == set()
    assert desk.rows("SELECT * FROM observation_revisions WHERE text IS NOT NULL") == []
    assert desk.unbroken()


@pytest.mark.parametrize("path", ["/memories?type=zzz", "/memories?type=shadow"])
def test_a_type_that_is_none_has_nothing_to_clear(desk: Desk, path: str) -> None:
    observed(desk)

    answer = desk.delete(path)

    assert (answer.status, answer.json()["deleted_count"]) == (200, 0)
    assert len(texts(desk)) == 5


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/memories", {"success": True, "message": "Cleared 0 memory unit(s) from bank 'desk'", "deleted_count": 0}),
        ("/observations", {"success": True, "message": "Cleared 0 observations", "deleted_count": 0}),
    ],
)
def test_a_bank_that_is_not_there_has_nothing_to_clear_and_is_not_made(
    desk: Desk, path: str, answer: dict[str, object]
) -> None:
    cleared = desk.delete(path)

    assert (cleared.status, cleared.json()) == (200, answer)
    assert desk.rows("SELECT * FROM banks") == []


def test_a_document_that_was_cleared_makes_facts_again_when_it_is_retained_again(desk: Desk) -> None:
    desk.retain(*chain("Ann rows.", "Bob swims.", entities=["Ann"]))
    asked = len(desk.services.model.calls)
    desk.delete("/memories")

    again = desk.retain(*chain("Ann rows.", "Bob swims.", entities=["Ann"]))

    assert set(again) == {"Ann rows.", "Bob swims."}
    assert len(desk.services.model.calls) == asked + 1
    assert [row["mention_count"] for row in desk.rows("SELECT mention_count FROM entities")] == [2]
    assert desk.get("/documents/letter")["memory_unit_count"] == 2
    assert desk.unbroken()


def test_a_clear_larger_than_a_slice_takes_everything(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clear, "SLICE", 2)
    desk.retain(*(says(f"Number {n}.") for n in range(7)))

    assert desk.delete("/memories").json()["deleted_count"] == 7
    assert texts(desk) == set()
    assert desk.unbroken()


def test_clearing_the_observations_lets_every_fact_wait_failed_ones_too(desk: Desk) -> None:
    """[C126] All sources are pending, the histories say nothing, and nobody is woken."""
    ids = observed(desk)
    desk.change(
        "UPDATE consolidation_work SET state = 'failed', failed_at = now(), outcome = NULL WHERE fact_id = %s",
        [ids["Bob swims."]],
    )
    desk.services.noted.scopes.clear()

    answer = desk.delete("/observations")

    assert answer.json() == {"success": True, "message": "Cleared 2 observations", "deleted_count": 2}
    assert desk.pending() == {"Ann rows.", "Bob swims.", "I booked a boat."}
    assert desk.rows("SELECT * FROM consolidation_work WHERE state = 'failed'") == []
    assert (
        desk.rows("SELECT * FROM observation_revisions WHERE text IS NOT NULL OR evidence::text LIKE '%%quote%%'") == []
    )
    assert desk.services.noted.scopes == []
    assert desk.unbroken()


def test_clearing_what_rests_on_one_fact_spares_the_rest(desk: Desk) -> None:
    """[C125] Only its observations go, their other sources wait again, and the answer counts them."""
    ids = observed(desk)
    desk.services.noted.scopes.clear()

    answer = desk.delete(f"/memories/{ids['Ann rows.']}/observations")

    assert (answer.status, answer.json()) == (200, {"deleted_count": 1})
    assert texts(desk) == {"Ann rows.", "Bob swims.", "I booked a boat.", "A boat is booked."}
    assert desk.pending() == {"Ann rows.", "Bob swims."}
    assert len(desk.services.noted.scopes) == 1
    (line,) = desk.rows("SELECT detail FROM document_revisions WHERE kind = 'observations_cleared'")
    assert line["detail"]["observations_removed"] == {"count": 1, "ids": [ids["both"]]}
    assert desk.unbroken()


def test_a_fact_without_observations_waits_again_when_they_are_cleared(desk: Desk) -> None:
    ids = observed(desk)
    desk.delete("/memories?type=observation")

    answer = desk.delete(f"/memories/{ids['Ann rows.']}/observations")

    assert answer.json() == {"deleted_count": 0}
    assert desk.pending() == {"Ann rows."}


def test_nothing_rests_on_what_is_not_there(desk: Desk) -> None:
    ids = observed(desk)

    unknown = desk.delete(f"/memories/{uuid4()}/observations")
    observation = desk.delete(f"/memories/{ids['own']}/observations")
    no_id = desk.delete("/memories/abc/observations")
    no_bank = desk.call("DELETE", f"/v1/default/banks/nobody/memories/{uuid4()}/observations")

    assert [unknown.status, observation.status, no_id.status, no_bank.status] == [200, 200, 400, 404]
    assert unknown.json() == observation.json() == {"deleted_count": 0}
    assert no_bank.json() == {"detail": "Bank 'nobody' not found"}
