"""Facts edited by hand: what is written, what ends with it, and what is refused."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.errors import ModelUnavailable
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, UsageSink
from tests.integration.curation.conftest import BANK, Desk, chain, says
from tests.support.models import HashEmbedder

KEY = "AKIA" + "IOSFODNN7EXAMPLE"


def links(desk: Desk) -> set[tuple[str, str, str]]:
    query = (
        "SELECT f.text AS one, t.text AS other, l.link_type FROM memory_links l "
        "JOIN memory_units f ON f.id = l.from_unit JOIN memory_units t ON t.id = l.to_unit"
    )
    return {(row["one"], row["link_type"], row["other"]) for row in desk.rows(query)}


def entities(desk: Desk) -> dict[str, int]:
    return {row["canonical_name"]: row["mention_count"] for row in desk.rows("SELECT * FROM entities")}


def test_an_edited_fact_is_a_new_version_and_is_found_by_its_new_words(desk: Desk) -> None:
    ids = desk.retain(*chain("It rained in Lima.", "The match was off."), context="a letter from Ann")
    (before,) = desk.rows("SELECT * FROM memory_units WHERE text LIKE 'It rained%%'")

    answer = desk.patch(
        ids["It rained in Lima."], text="It snowed in Oslo.", occurred_start="2024-01-01T10:00:00+02:00"
    )

    (after,) = desk.rows("SELECT * FROM memory_units WHERE text = 'It snowed in Oslo.'")
    shown = answer.json()
    assert (answer.status, shown["text"], shown["state"]) == (200, "It snowed in Oslo.", "valid")
    assert shown["occurred_start"] == shown["date"] == "2024-01-01T08:00:00+00:00"
    assert shown["edited_at"] is not None
    assert after["version"] == before["version"] + 1
    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]
    assert after["embedding"] != before["embedding"]
    terms = {row["term"] for row in desk.rows("SELECT term FROM unit_terms WHERE unit_id = %s", [after["id"]])}
    assert {"snow", "oslo", "letter", "2024"} <= terms
    assert not terms & {"rain", "lima"}
    assert desk.unbroken()


def test_what_rested_on_an_edited_fact_ends_and_its_other_sources_wait(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."), says("Ann rows daily."), says("Bob swims."))
    gone = desk.observe("Ann is a rower.", ids["Ann rows."], ids["Ann rows daily."])
    kept = desk.observe("Bob is a swimmer.", ids["Bob swims."])

    assert desk.patch(ids["Ann rows."], text="Ann sails.").status == 200

    assert desk.call("GET", f"{BANK}/memories/{gone}").status == 404
    assert desk.get(f"/memories/{kept}")["text"] == "Bob is a swimmer."
    assert desk.pending() == {"Ann sails.", "Ann rows daily."}
    revisions = desk.rows(
        "SELECT text, evidence::text AS quotes FROM observation_revisions WHERE observation_id = %s", [gone]
    )
    assert [row["text"] for row in revisions] == [None, None]
    assert not any("quote" in row["quotes"] for row in revisions)
    assert desk.unbroken()


def test_an_edit_wakes_the_scopes_of_its_fact_and_those_who_tend_links(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    (scope,) = desk.rows("SELECT scope_id FROM scopes")
    desk.services.noted.scopes.clear()

    desk.patch(ids["Ann rows."], text="Ann sails.")

    assert [woken[2] for woken in desk.services.noted.scopes] == [scope["scope_id"]]
    assert {row["kind"] for row in desk.rows("SELECT kind FROM link_maintenance")} == {"fact"}


def test_a_bank_that_consolidates_on_demand_is_not_woken_by_an_edit(desk: Desk) -> None:
    desk.call("PUT", BANK, {})
    desk.call("PATCH", f"{BANK}/config", {"updates": {"enable_auto_consolidation": False}})
    ids = desk.retain(says("Ann rows."))
    desk.services.noted.scopes.clear()

    desk.patch(ids["Ann rows."], text="Ann sails.")

    assert desk.services.noted.scopes == []
    assert desk.pending() == {"Ann sails."}


def test_causes_outlive_an_edit_and_measured_links_do_not(desk: Desk) -> None:
    ids = desk.retain(*chain("Ann rows on the lake.", "Ann rows on the river."))
    before = links(desk)

    desk.patch(ids["Ann rows on the lake."], text="The shop opened.")

    assert {kind for _, kind, _ in before} > {"caused_by"}
    assert links(desk) == {("Ann rows on the river.", "caused_by", "The shop opened.")}


def test_entities_are_replaced_taken_off_and_counted(desk: Desk) -> None:
    ids = desk.retain(*chain("They met.", "They talked.", entities=["Ann", "Bob"]))

    replaced = desk.patch(ids["They met."], entities=["Ann", "Cleo"]).json()
    counted = entities(desk)
    pairs = {row["cooccurrences"] for row in desk.rows("SELECT cooccurrences FROM entity_cooccurrences")}
    detached = desk.patch(ids["They met."], entities=[]).json()

    assert replaced["entities"] == ["Ann", "Cleo"]
    assert counted == {"Ann": 2, "Bob": 1, "Cleo": 1}
    assert pairs == {1}
    assert detached["entities"] == []
    assert entities(desk) == {"Ann": 1, "Bob": 1, "Cleo": 0}
    assert len(desk.rows("SELECT * FROM entity_cooccurrences")) == 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Alice moved to Kyiv in spring.", ["Kyiv", "user"]),
        ("Robert Miles moved to Kyiv.", ["Kyiv", "Robert Miles", "user"]),
        ("ROBERT MILES's move led to Oslo.", ["Robert Miles", "user"]),
        ("Robert moved to Kyiv.", ["Kyiv", "user"]),
    ],
    ids=["another", "the same", "otherwise written", "a part"],
)
def test_a_name_that_an_edit_corrects_away_finds_the_fact_no_more(desk: Desk, text: str, left: list[str]) -> None:
    ids = desk.retain(*chain("Robert Miles moved to Kyiv in spring.", entities=["Robert Miles", "Kyiv", "user"]))

    answer = desk.patch(next(iter(ids.values())), text=text)

    assert sorted(answer.json()["entities"], key=str.casefold) == left
    found = {row["term"] for row in desk.rows("SELECT term FROM unit_terms")}
    assert ("mile" in found) == ("Robert Miles" in left)
    assert {name for name, count in entities(desk).items() if count} == set(left)
    assert desk.unbroken()


def test_entities_that_an_edit_names_are_its_last_word(desk: Desk) -> None:
    ids = desk.retain(*chain("Robert moved.", entities=["Robert"]))

    shown = desk.patch(ids["Robert moved."], text="Alice moved.", entities=["Robert"]).json()

    assert shown["entities"] == ["Robert"]


def test_a_name_taken_literally_is_an_entity_of_its_own(desk: Desk) -> None:
    ids = desk.retain(*chain("They met.", entities=["Alice Smyth"]), *chain("It rained."))

    desk.patch(ids["It rained."], entities=["Alice Smith"], resolve_entities=False)

    assert entities(desk) == {"Alice Smyth": 1, "Alice Smith": 1}


def test_a_fact_of_another_type_is_counted_and_found_there(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))

    shown = desk.patch(ids["Ann rows."], fact_type="experience").json()

    assert shown["type"] == "experience"
    assert {row["fact_type"] for row in desk.rows("SELECT fact_type FROM unit_terms")} == {"experience"}
    assert desk.unbroken()


@pytest.mark.parametrize("cleared", [None, ""])
def test_dates_and_context_can_be_cleared(desk: Desk, cleared: str | None) -> None:
    ids = desk.retain(says("Ann rows."), context="a letter", timestamp="2024-05-01")
    desk.patch(ids["Ann rows."], occurred_start="2024-01-01", occurred_end="2024-01-02")

    shown = desk.patch(
        ids["Ann rows."], occurred_start=cleared, occurred_end=cleared, mentioned_at=cleared, context=""
    ).json()

    assert (shown["occurred_start"], shown["occurred_end"], shown["mentioned_at"]) == (None, None, None)
    assert (shown["context"], shown["date"]) == ("", "")


def test_an_edit_that_changes_nothing_writes_nothing(desk: Desk) -> None:
    ids = desk.retain(*chain("Ann rows.", entities=["Ann"]))
    before = desk.rows("SELECT * FROM memory_units")
    asked = len(desk.services.embedder.texts)  # type: ignore[attr-defined]  # the fake notes what it embeds

    answer = desk.patch(ids["Ann rows."], text="Ann rows.", entities=["ann"], fact_type="world")

    assert answer.status == 200
    assert desk.rows("SELECT * FROM memory_units") == before
    assert len(desk.services.embedder.texts) == asked  # type: ignore[attr-defined]  # likewise


def test_the_history_of_the_document_tells_of_the_edit(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    gone = desk.observe("Ann is a rower.", ids["Ann rows."])

    desk.patch(ids["Ann rows."], text="Ann sails.")

    (line,) = desk.rows("SELECT detail FROM document_revisions WHERE kind = 'fact_edited'")
    assert line["detail"] == {
        "fact_id": ids["Ann rows."],
        "observations_removed": {"count": 1, "ids": [gone]},
    }


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "nothing": ({}, 422, "Provide at least one field to update."),
    "nothing but a reason": ({"reason": "r"}, 422, "Provide at least one field to update."),
    "nulls": ({"text": None, "entities": None}, 422, "Provide at least one field to update."),
    "blank text": ({"text": " \n"}, 400, "text must not be blank"),
    "invisible text": ({"text": "\u200b"}, 400, "text must not be blank"),
    "unknown state": ({"state": "gone"}, 422, "'valid' or 'invalidated'"),
    "unknown type": ({"fact_type": "observation"}, 422, "'world' or 'experience'"),
    "no date": ({"occurred_start": "tomorrow"}, 422, "must be an ISO 8601 date"),
    "year without meaning": ({"mentioned_at": "9999-01-01"}, 422, "is not a real date"),
    "end before start": ({"occurred_start": "2024-02-01", "occurred_end": "2024-01-01"}, 422, "must not be before"),
    "entities that are no list": ({"entities": "Ann"}, 422, "valid list"),
    "entity that is no name": ({"entities": [1]}, 422, "valid string"),
    "endless entity": ({"entities": ["a" * 600]}, 422, "at most 512 characters"),
    "endless text": ({"text": "a" * 70_000}, 413, "text must be at most"),
}


@pytest.mark.parametrize(("fields", "status", "sentence"), REFUSED.values(), ids=[f"R126-{name}" for name in REFUSED])
def test_a_wrong_edit_is_refused_and_changes_nothing(
    desk: Desk, fields: dict[str, Any], status: int, sentence: str
) -> None:
    ids = desk.retain(says("Ann rows."))
    before = desk.rows("SELECT * FROM memory_units")

    answer = desk.patch(ids["Ann rows."], **fields)

    assert answer.status == status, answer.body
    assert sentence in answer.body.decode()
    assert desk.rows("SELECT * FROM memory_units") == before


def test_an_observation_and_an_archived_fact_cannot_be_edited(desk: Desk) -> None:
    """[R126] [C128] Both answer 400 and say why."""
    ids = desk.retain(says("Ann rows."), says("Bob swims."))
    observation = desk.observe("Bob is a swimmer.", ids["Bob swims."])
    desk.patch(ids["Ann rows."], state="invalidated")

    of_observation = [desk.patch(observation, text="zz"), desk.patch(observation, state="invalidated")]
    of_archived = desk.patch(ids["Ann rows."], text="zz")

    assert [answer.status for answer in of_observation] == [400, 400]
    assert of_archived.status == 400
    assert of_archived.json() == {"detail": "Cannot edit an invalidated memory; revert it to 'valid' first."}
    assert desk.patch(ids["Ann rows."], state="valid", text="Ann sails.").json()["text"] == "Ann sails."


@pytest.mark.parametrize(("memory_id", "status"), [(str(uuid4()), 404), ("abc", 400)], ids=["unknown", "no id"])
def test_an_edit_of_what_is_not_there_is_refused(desk: Desk, memory_id: str, status: int) -> None:
    desk.retain(says("Ann rows."))

    assert desk.patch(memory_id, text="zz").status == status


def test_a_secret_does_not_come_in_by_an_edit(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))

    shown = desk.patch(ids["Ann rows."], text=f"The key is {KEY}.", context=f"see {KEY}", entities=["Ann", KEY]).json()
    desk.patch(ids["Ann rows."], state="invalidated", reason=f"it said {KEY}")

    assert shown["text"] == "The key is [redacted:aws_access_key]."
    assert shown["context"] == "see [redacted:aws_access_key]"
    assert shown["entities"] == ["Ann"]
    assert desk.get(f"/memories/{ids['Ann rows.']}")["invalidation_reason"] == "it said [redacted:aws_access_key]"
    assert desk.rows("SELECT calls FROM usage_ledger WHERE task = 'screening'") == [{"calls": 3}]


class InterruptedEmbedder(HashEmbedder):
    """Lets another writer in each time it is asked, as often as it is told to."""

    def __init__(self, desk: Desk, times: int) -> None:
        super().__init__()
        self.desk, self.times = desk, times

    def embed(self, texts: Any, purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        if self.times:
            self.times -= 1
            self.desk.change("UPDATE memory_units SET version = version + 1, context = 'theirs'")
            self.desk.change("UPDATE invalidated_memory_units SET version = version + 1")
        return super().embed(texts, purpose, usage)


def test_an_edit_that_lost_a_race_is_done_again_on_what_is_there_now(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    desk.services.__dict__["embedder"] = InterruptedEmbedder(desk, 1)
    desk.services.__dict__.pop("curation_ports", None)

    shown = desk.patch(ids["Ann rows."], text="Ann sails.").json()

    assert (shown["text"], shown["context"]) == ("Ann sails.", "theirs")


def test_an_edit_that_always_loses_says_so_and_changes_nothing(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    desk.services.__dict__["embedder"] = InterruptedEmbedder(desk, 99)
    desk.services.__dict__.pop("curation_ports", None)

    answer = desk.patch(ids["Ann rows."], text="Ann sails.")

    assert answer.status == 409
    assert [row["text"] for row in desk.rows("SELECT text FROM memory_units")] == ["Ann rows."]


@pytest.mark.parametrize("races", [0, 1, 99])
def test_each_try_of_an_edit_is_in_the_ledger_once(desk: Desk, races: int) -> None:
    """Promise [G10]."""
    ids = desk.retain(says("Ann rows."))
    desk.change("DELETE FROM usage_ledger")
    embedder = InterruptedEmbedder(desk, races)
    desk.services.__dict__["embedder"] = embedder
    desk.services.__dict__.pop("curation_ports", None)

    desk.patch(ids["Ann rows."], text="Ann sails.")

    tried = min(races + 1, 4)
    assert len(desk.rows("SELECT * FROM usage_ledger WHERE task = 'embed'")) == tried


def test_each_try_of_a_revert_is_in_the_ledger_once(desk: Desk) -> None:
    """Promise [G10]."""
    ids = desk.retain(says("Ann rows."))
    desk.patch(ids["Ann rows."], state="invalidated")
    desk.change("DELETE FROM usage_ledger")
    desk.services.__dict__["embedder"] = InterruptedEmbedder(desk, 1)
    desk.services.__dict__.pop("curation_ports", None)

    shown = desk.patch(ids["Ann rows."], state="valid").json()

    assert shown["state"] == "valid"
    assert len(desk.rows("SELECT * FROM usage_ledger WHERE task = 'embed'")) == 2


def test_an_embedder_that_fails_leaves_the_fact_and_the_cost(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    desk.services.embedder.failures.append(ModelUnavailable("away"))  # type: ignore[attr-defined]  # the fake's script

    answer = desk.patch(ids["Ann rows."], text="Ann sails.")

    assert answer.status == 503
    assert [row["text"] for row in desk.rows("SELECT text FROM memory_units")] == ["Ann rows."]
    assert len(desk.rows("SELECT * FROM usage_ledger WHERE task = 'embed' AND status = 'unavailable'")) == 1


def test_vectors_of_two_models_are_never_mixed_by_an_edit(desk: Desk) -> None:
    ids = desk.retain(says("Ann rows."))
    desk.services.__dict__["embedder"] = HashEmbedder("another-model")
    desk.services.__dict__.pop("curation_ports", None)

    answer = desk.patch(ids["Ann rows."], text="Ann sails.")

    assert answer.status == 409
    assert "another-model" in answer.json()["detail"]
