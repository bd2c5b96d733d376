"""Consolidation by rule: near facts join, changes keep both states, missions show."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.consolidate import consolidate
from infra.local.bedrock.rules.judge_duplicate import judge_duplicate
from tests.unit.infra_local.bedrock.support import material, shown

Texts = Sequence[str | tuple[str, str]]


class Revision:
    """The reply with its parts at hand."""

    def __init__(self, facts: Texts, observations: Texts = (), **blocks: JsonValue) -> None:
        reply = consolidate(material(facts=shown("f", facts), observations=shown("o", observations), **blocks))
        parts: dict[str, list[JsonObject]] = json.loads(json.dumps(reply))
        self.creates, self.updates = parts["creates"], parts["updates"]
        self.deletes, self.skipped = parts["deletes"], parts["skipped"]


def test_a_fact_near_nothing_is_created_with_an_exact_quote() -> None:
    revision = Revision(["Zed owns a kayak."], ["Ada likes tea."])

    assert [(c["text"], c["source_fact_ids"], c["quotes"]) for c in revision.creates] == [
        ("Zed owns a kayak.", ["f0"], [{"fact_id": "f0", "quote": "Zed owns a kayak."}])
    ]
    assert revision.updates == []


def test_a_repeated_fact_is_evidence_and_changes_no_word() -> None:
    revision = Revision(["Bob plays tennis."], ["Bob plays tennis every Sunday."])

    assert [(u["observation_id"], u["text"]) for u in revision.updates] == [("o0", "Bob plays tennis every Sunday.")]


@pytest.mark.parametrize(
    ("known", "new", "told"),
    [
        ("Pia loves spicy food.", "Pia hates spicy food.",
         "Pia hates spicy food (since 2026-03-02). Before that: Pia loves spicy food."),
        ("Ola lives in Oslo.", "Ola moved to Rome.",
         "Ola moved to Rome (since 2026-03-02). Before that: Ola lives in Oslo."),
        ("The server has 16 GB.", "The server has 64 GB.",
         "The server has 64 GB (since 2026-03-02). Before that: The server has 16 GB."),
        ("Kim eats meat.", "Kim does not eat meat.",
         "Kim does not eat meat (since 2026-03-02). Before that: Kim eats meat."),
    ],
)  # fmt: skip
def test_a_change_tells_both_states(known: str, new: str, told: str) -> None:
    revision = Revision([(new, "2026-03-02T10:00+00:00")], [(known, "2026-01-01T10:00+00:00")])

    assert [u["text"] for u in revision.updates] == [told]
    assert revision.deletes == []


def test_an_older_fact_does_not_become_the_present() -> None:
    revision = Revision([("Pia hates spicy food.", "2020-01-01")], [("Pia loves spicy food.", "2026-01-01")])

    assert [u["text"] for u in revision.updates] == ["Pia loves spicy food. Before that: Pia hates spicy food."]


@pytest.mark.parametrize(
    ("one", "other"), [("A1 is red.", "A2 is red."), ("Jane Smith is here.", "John Smith is here.")]
)
def test_near_named_things_stay_apart(one: str, other: str) -> None:
    revision = Revision([one, other])

    assert [c["text"] for c in revision.creates] == [one, other]


def test_facts_of_one_batch_about_one_thing_make_one_observation() -> None:
    revision = Revision(["The depot opens at six.", "The depot opens at six."])

    assert [c["source_fact_ids"] for c in revision.creates] == [["f0", "f1"]]


def test_one_observation_is_updated_once_for_all_its_facts() -> None:
    revision = Revision(["Ola cycles daily.", "Ola cycles to work."], ["Ola cycles."])

    assert [(u["observation_id"], u["source_fact_ids"]) for u in revision.updates] == [("o0", ["f0", "f1"])]


@pytest.mark.parametrize("capacity", [{"remaining": 0}, {"limit": 3, "count": 3}, {"reached": True}])
def test_a_fact_without_room_is_skipped_with_a_reason(capacity: JsonObject) -> None:
    revision = Revision(["Zed owns a kayak."], capacity=capacity)

    assert revision.creates == []
    assert [(s["fact_id"], s["reason"]) for s in revision.skipped] == [
        ("f0", "there is no room for another observation")
    ]


def test_a_delete_always_names_where_the_evidence_goes() -> None:
    revision = Revision(["Zed owns a kayak."], ["Ada likes tea.", "Ada  likes tea."])

    assert [(d["observation_id"], d["merged_into"]) for d in revision.deletes] == [("o1", "o0")]


def test_a_mission_for_trends_without_names_hides_names_and_counts() -> None:
    revision = Revision(
        ["Maria asked for dark mode.", "John Smith asked for dark mode too."],
        mission={"text": "Trends only, no names."},
    )

    assert [c["text"] for c in revision.creates] == ["Trend (2 reports): Someone asked for dark mode."]


def test_a_mission_for_what_several_report_skips_a_lone_report() -> None:
    revision = Revision(
        ["Maria asked for dark mode.", "John Smith asked for dark mode too.", "John Smith paid 1,200 euros."],
        mission={"text": "Trends that come up more than once; no names."},
    )

    assert [c["text"] for c in revision.creates] == ["Trend (2 reports): Someone asked for dark mode."]
    assert [s["fact_id"] for s in revision.skipped] == ["f2"]


def test_a_mission_without_names_and_amounts_hides_organisations_and_money() -> None:
    revision = Revision(
        ["Elm Street Bakery pays 1,900 euros a month.", "It owes $3.5 million."],
        mission={"text": "Give no names and no amounts."},
    )

    assert [c["text"] for c in revision.creates] == [
        "An organisation pays an undisclosed amount a month.",
        "It owes an undisclosed amount.",
    ]


def test_a_mission_for_decisions_skips_the_rest() -> None:
    revision = Revision(
        ["The team decided to use Postgres.", "Lunch was nice."], mission={"text": "Record decisions only."}
    )

    assert [c["text"] for c in revision.creates] == ["The team decided to use Postgres."]
    assert [s["fact_id"] for s in revision.skipped] == ["f1"]


@pytest.mark.parametrize(
    "mission", ["Track preferences and decisions.", "Use {name} and {{x}}", "", "Whatever is worth remembering."]
)
def test_a_mission_the_rules_do_not_understand_changes_nothing(mission: str) -> None:
    revision = Revision(["Maria likes tea."], mission={"text": mission})

    assert [c["text"] for c in revision.creates] == ["Maria likes tea."]


def test_a_long_fact_is_quoted_by_one_of_its_sentences() -> None:
    long = "Zed owns a red kayak. " + "He paddles it along the northern coast whenever the weather allows it. " * 5
    revision = Revision([long])

    quoted = json.loads(json.dumps(revision.creates[0]["quotes"]))[0]["quote"]
    assert quoted in long
    assert len(quoted) < 300


@pytest.mark.parametrize(
    ("new", "existing", "action"),
    [
        ("Bob has 2 dogs", "Bob has 2 dogs.", "merge"),
        ("Bob has 2 dogs", "Bob has 3 dogs", "keep"),
        ("Bob eats meat", "Bob never eats meat", "keep"),
        ("Jane Smith swims", "John Smith swims", "keep"),
        ("", "", "keep"),
    ],
)
def test_two_texts_are_one_claim_only_when_no_detail_differs(new: str, existing: str, action: str) -> None:
    pair: JsonObject = {"new": {"text": new}, "existing": {"text": existing}}

    assert judge_duplicate(material(candidates=pair))["action"] == action
