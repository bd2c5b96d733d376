"""What observations rest on: quotes, proof counts, dates, tags, and the history that tells how it came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates, updates
from tests.support.models import block

BANK = "/v1/default/banks/bank"


def _day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def _dated(
    workshop: Workshop,
    text: str,
    start: datetime | None = None,
    end: datetime | None = None,
    mentioned: datetime | None = None,
) -> UUID:
    """A fact with these dates and pending work in the untagged scope."""
    (fact,) = workshop.remember(text)
    workshop.sql(
        "UPDATE memory_units SET occurred_start = %s, occurred_end = %s, mentioned_at = %s WHERE id = %s",
        start, end, mentioned, fact,
    )  # fmt: skip
    return fact


def _noted(workshop: Workshop, *facts: UUID, text: str = "It was so.") -> dict[str, Any]:
    """The observation made of these facts together."""
    workshop.answers(creates((text, facts)))
    workshop.drain()
    return workshop.observations()[-1]


def _rewritten(workshop: Workshop, held: dict[str, Any], *facts: UUID, text: str = "It is so.") -> dict[str, Any]:
    workshop.answers(updates(held["id"], text, facts))
    workshop.drain()
    (found,) = [row for row in workshop.observations() if row["id"] == held["id"]]
    return found


def _dates(row: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    return row["occurred_start"], row["occurred_end"]


def test_c040_an_action_that_cites_no_fact_of_the_call_writes_nothing_is_counted_and_its_fact_asked_again(
    workshop: Workshop,
) -> None:
    facts = workshop.remember("One.", "Two.")
    workshop.answers(creates(("T", [UUID(int=9)]), ("Two is so.", facts[1:])), {})

    workshop.drain()

    assert [row["text"] for row in workshop.observations()] == ["Two is so."]
    assert workshop.work()[facts[0]] == [("done", "not_durable")]
    first, second = workshop.sql("SELECT counts FROM consolidation_runs ORDER BY finished_at")
    assert (first["counts"]["refused"], first["counts"]["overlooked"]) == (1, 1)
    assert second["counts"] == {"not_durable": 1}


def test_c043_two_updates_of_one_observation_are_one_entry_of_its_history(workshop: Workshop) -> None:
    held = _noted(workshop, *workshop.remember("One."))
    facts = workshop.remember("Two.", "Three.")
    first, last = (updates(held["id"], text, [fact]) for text, fact in zip(("First.", "Last."), facts, strict=True))
    workshop.answers({"updates": [*first["updates"], *last["updates"]]})  # type: ignore[misc]  # lists of updates

    workshop.drain()

    (row,) = workshop.observations()
    assert (row["text"], row["proof_count"]) == ("Last.", 3)
    kinds = [r["kind"] for r in workshop.sql("SELECT kind FROM observation_revisions ORDER BY sequence")]
    assert kinds == ["create", "rewrite"]


def test_c052_a_fact_alone_that_an_empty_answer_leaves_out_is_settled_without_another_question(
    workshop: Workshop,
) -> None:
    (fact,) = workshop.remember("One.")
    workshop.answers({})

    workshop.drain()

    assert len(workshop.model.calls) == 1
    assert workshop.work()[fact] == [("done", "not_durable")]


def test_c054_a_merge_widens_the_heirs_dates_and_leaves_its_wording(workshop: Workshop) -> None:
    heir = _noted(workshop, _dated(workshop, "One.", _day(2024), _day(2024)), text="Heir.")
    ends = _noted(workshop, _dated(workshop, "Two.", _day(2020), _day(2030)), text="Ends.")
    (fact,) = workshop.remember("Three.")
    gone: JsonObject = {"observation_id": str(ends["id"]), "merged_into": str(heir["id"])}
    workshop.answers({"skipped": [{"fact_id": str(fact)}], "deletes": [gone]})

    workshop.drain()

    (left,) = workshop.observations()
    assert (left["id"], left["text"], left["proof_count"]) == (heir["id"], "Heir.", 2)
    assert _dates(left) == (_day(2020), _day(2030))
    (change,) = workshop.sql("SELECT kind, added_fact_ids FROM observation_revisions WHERE kind = 'evidence'")
    assert [str(moved) for moved in change["added_fact_ids"]] == list(ends["evidence"])


def test_c055_a_merge_into_what_was_not_shown_keeps_both_and_asks_again(workshop: Workshop) -> None:
    held = _noted(workshop, *workshop.remember("One."))
    (fact,) = workshop.remember("Two.")
    gone: JsonObject = {"observation_id": str(held["id"]), "merged_into": str(UUID(int=7))}
    workshop.answers({"deletes": [gone]}, creates(("Two is so.", [fact])))

    workshop.drain()

    assert sorted(row["text"] for row in workshop.observations()) == ["It was so.", "Two is so."]
    assert workshop.work()[fact] == [("done", "created")]


def test_c056_a_fact_cited_a_thousand_times_is_stored_once(workshop: Workshop) -> None:
    (fact,) = workshop.remember("One.")

    held = _noted(workshop, *[fact] * 1_000)

    assert (held["proof_count"], len(held["evidence"])) == (1, 1)


def test_c057_sources_without_dates_give_none(workshop: Workshop) -> None:
    assert _dates(_noted(workshop, _dated(workshop, "One."))) == (None, None)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        pytest.param((_day(2024), _day(2024)), (_day(2023), _day(2025)), (_day(2023), _day(2025)), id="C058-wider"),
        pytest.param((_day(2024), _day(2024)), (None, None), (_day(2024), _day(2024)), id="undated-changes-nothing"),
        pytest.param((None, None), (_day(2024), _day(2025)), (_day(2024), _day(2025)), id="C059-first-date"),
        pytest.param((_day(2024), _day(2024)), (_day(1), _day(9999)), (_day(2024), _day(2024)), id="C060-placeholders"),
    ],
)
def test_dates_are_the_first_start_and_the_last_end(workshop: Workshop, first: Any, second: Any, both: Any) -> None:
    held = _noted(workshop, _dated(workshop, "One.", *first))

    rewritten = _rewritten(workshop, held, _dated(workshop, "Two.", *second))

    assert _dates(rewritten) == both


def test_c061_what_nobody_mentioned_was_mentioned_when_it_was_made(workshop: Workshop) -> None:
    made = _noted(workshop, _dated(workshop, "One."))
    rewritten = _rewritten(workshop, made, _dated(workshop, "Two.", mentioned=_day(2031)))

    assert made["mentioned_at"] - made["created_at"] < timedelta(minutes=1)
    assert rewritten["mentioned_at"] == _day(2031)


def test_c062_the_proof_count_of_three_sources_is_three(workshop: Workshop) -> None:
    assert _noted(workshop, *workshop.remember("One.", "Two.", "Three."))["proof_count"] == 3


def test_c063_a_fact_that_supports_it_twice_counts_once(workshop: Workshop) -> None:
    facts = workshop.remember("One.", "Two.")
    held = _noted(workshop, *facts)
    workshop.sql("UPDATE consolidation_work SET state = 'pending', outcome = NULL, done_at = NULL")

    rewritten = _rewritten(workshop, held, *facts)

    assert (rewritten["text"], rewritten["proof_count"]) == ("It is so.", 2)


def test_c064_a_tag_taken_off_meanwhile_does_not_come_back(workshop: Workshop) -> None:
    (first,) = workshop.remember("One.", tags=["a", "b"])
    workshop.answers(creates(("It was so.", [first])))
    workshop.drain("a", "b")
    (held,) = workshop.observations("a", "b")
    (second,) = workshop.remember("Two.", tags=["a", "b"])

    def take_off(call: ModelCall) -> JsonObject:
        workshop.sql("UPDATE memory_units SET tags = '{a}' WHERE id = %s", held["id"])
        return updates(held["id"], "It is so.", [second])

    workshop.answers(take_off)

    workshop.drain("a", "b")

    (row,) = workshop.observations("a", "b")
    assert (row["text"], row["tags"]) == ("It is so.", ["a"])


def test_c065_a_new_observation_is_found_by_its_words_at_once(workshop: Workshop, call: Caller) -> None:
    (fact,) = workshop.remember("One.")
    workshop.embedder.fixed["Zephyrine keeps bees."] = [0.0]
    _noted(workshop, fact, text="Zephyrine keeps bees.")

    found = call("POST", f"{BANK}/memories/recall", {"query": "zephyrine", "types": ["observation"]}).json()["results"]

    assert [(one["text"], one["scores"]["semantic"]) for one in found] == [("Zephyrine keeps bees.", None)]


@pytest.mark.parametrize(
    ("quotes", "held"),
    [
        pytest.param(["sells bread"], ["sells bread", "model"], id="right"),
        pytest.param(["  sells bread "], ["sells bread", "model"], id="right-within-blanks"),
        pytest.param(["sells bread and cake"], ["Mina sells bread.", "whole"], id="partly-right"),
        pytest.param(["SELLS BREAD"], ["Mina sells bread.", "whole"], id="other-case"),
        pytest.param(["never said"], ["Mina sells bread.", "whole"], id="wrong"),
        pytest.param(["  "], ["Mina sells bread.", "whole"], id="blank"),
        pytest.param([], ["Mina sells bread.", "whole"], id="none"),
        pytest.param(["never said", "bread"], ["bread", "model"], id="second-of-two"),
    ],
)
def test_a_quote_is_the_facts_own_words_or_the_whole_fact(
    workshop: Workshop, quotes: list[str], held: list[str]
) -> None:
    (fact,) = workshop.remember("Mina sells bread.")
    answer: Any = creates(("Mina sells.", [fact]))
    answer["creates"][0]["quotes"] = [{"fact_id": str(fact), "quote": quote} for quote in quotes]
    workshop.answers(answer)

    workshop.drain()

    assert workshop.observations()[0]["evidence"] == {str(fact): held}


def test_the_share_of_quotes_that_the_model_chose_is_counted_and_shown(workshop: Workshop, call: Caller) -> None:
    """Right, partly right, wrong, missing, and one observation of several facts of which one is quoted."""
    right, partly, wrong, silent, *two = workshop.remember(
        "Ada rows.", "Bo swims.", "Cy sings.", "Di reads.", "Ed runs.", "Flo runs."
    )
    quotes = {right: "rows", partly: "swims daily", wrong: "dances", two[0]: "Ed runs"}
    said: list[tuple[str, list[UUID]]] = [
        ("A.", [right]),
        ("B.", [partly]),
        ("C.", [wrong]),
        ("D.", [silent]),
        ("E.", two),
    ]
    answer: Any = creates(*said)
    for made, (_, facts) in zip(answer["creates"], said, strict=True):
        made["quotes"] = [{"fact_id": str(fact), "quote": quotes[fact]} for fact in facts if fact in quotes]
    workshop.answers(answer)

    workshop.drain()

    (run,) = workshop.sql("SELECT counts FROM consolidation_runs")
    assert run["counts"] == {"created": 6, "observations_created": 5, "quotes_model": 2, "quotes_whole": 4}
    assert call("GET", f"{BANK}/stats").json()["evidence_by_origin"] == {"model": 2, "whole": 4}
    (told,) = call("GET", f"{BANK}/consolidation/runs").json()["runs"]
    assert (told["counts"]["quotes_model"], told["counts"]["quotes_whole"]) == (2, 4)


def test_a_quote_of_the_models_takes_the_place_of_a_whole_fact(workshop: Workshop) -> None:
    (fact,) = workshop.remember("Mina sells bread.")
    held = _noted(workshop, fact)
    workshop.sql("UPDATE consolidation_work SET state = 'pending', outcome = NULL, done_at = NULL")
    answer: Any = updates(held["id"], "Mina sells.", [fact])
    answer["updates"][0]["quotes"] = [{"fact_id": str(fact), "quote": "sells bread"}]
    workshop.answers(answer)

    workshop.drain()

    assert workshop.observations()[0]["evidence"] == {str(fact): ["sells bread", "model"]}


def test_c137_two_updates_are_two_entries_oldest_first_with_what_was_new_in_each(
    workshop: Workshop, call: Caller
) -> None:
    first, second, third = (workshop.remember(text)[0] for text in ("One.", "Two.", "Three."))
    workshop.sql("UPDATE consolidation_work SET due_at = 'infinity' WHERE fact_id <> %s", first)
    held = _noted(workshop, first, text="Wording 1.")
    for fact, text in ((second, "Wording 2."), (third, "Wording 3.")):
        workshop.sql("UPDATE consolidation_work SET due_at = now() WHERE fact_id = %s", fact)
        held = _rewritten(workshop, held, fact, text=text)

    entries = call("GET", f"{BANK}/memories/{held['id']}/history").json()

    assert [entry["previous_text"] for entry in entries] == ["Wording 1.", "Wording 2."]
    assert [entry["new_source_memory_ids"] for entry in entries] == [[str(second)], [str(third)]]
    new = [{source["id"]: source["is_new"] for source in entry["source_facts"]} for entry in entries]
    assert new == [
        {str(first): False, str(second): True},
        {str(first): False, str(second): False, str(third): True},
    ]


def test_an_identical_twin_is_shown_however_many_others_are_nearer(workshop: Workshop) -> None:
    """Its words are the fact's, though thirty others have the fact's very vector."""
    twin = "The lighthouse keeper polishes the lens."
    for number in range(30):
        (other,) = workshop.remember(f"Note {number}.")
        workshop.embedder.fixed[f"Belief {number}. " + "It goes on and on. " * 120] = [1.0, 0.0]
        workshop.answers(
            creates((f"Belief {number}. " + "It goes on and on. " * 120, [other])), judge=[{"action": "keep"}]
        )
        workshop.drain()
    workshop.embedder.fixed[twin] = [0.0, 1.0]
    _noted(workshop, *workshop.remember("Said."), text=twin)
    (fact,) = workshop.remember(twin)
    workshop.sql(
        "UPDATE memory_units SET embedding = %s::real[]::halfvec(512) WHERE id = %s", [1.0] + [0.0] * 511, fact
    )
    workshop.answers({})

    workshop.drain()

    (call,) = workshop.model.asked("consolidate")
    shown: Any = block(call, "observations")
    assert twin in [observation["text"] for observation in shown]
