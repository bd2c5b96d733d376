"""Cap, mission and budgets of a scope as a drain applies them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.consolidation import Workshop, creates, updates
from tests.support.models import block


def test_without_room_nothing_is_made_and_what_is_there_still_changes(workshop: Workshop) -> None:
    """Case [C086]."""
    first = workshop.remember("Mina sells bread.", tags=["a"])
    workshop.answers(creates(("Mina sells bread.", first)))
    workshop.drain("a")
    (observation,) = workshop.observations("a")
    workshop.configure(max_observations_per_scope=0)
    facts = workshop.remember("Mina sells cake.", "Mina sings.", tags=["a"])
    workshop.answers(
        updates(observation["id"], "Mina sells bread and cake.", facts[:1]) | creates(("Mina sings.", facts[1:]))
    )

    workshop.drain("a")

    assert [row["text"] for row in workshop.observations("a")] == ["Mina sells bread and cake."]
    assert [workshop.work()[fact] for fact in facts] == [[("done", "updated")], [("done", "capped")]]


def test_creates_past_the_cap_are_cut_in_order(workshop: Workshop) -> None:
    """Case [C087]."""
    first = workshop.remember("One.", tags=["a"])
    workshop.answers(creates(("One.", first)))
    workshop.drain("a")
    workshop.configure(max_observations_per_scope=2)
    facts = workshop.remember("Two is red.", "Three is green.", "Four is blue.", tags=["a"])
    workshop.answers(creates(*[(f"Belief {n}.", [fact]) for n, fact in enumerate(facts)]))

    workshop.drain("a")

    assert sorted(row["text"] for row in workshop.observations("a")) == ["Belief 0.", "One."]
    assert [workshop.work()[fact][0][1] for fact in facts] == ["created", "capped", "capped"]
    (call,) = workshop.model.asked("consolidate")
    assert block(call, "capacity") == {"remaining": 1}


def test_observations_of_wider_tag_sets_do_not_count_toward_a_scopes_cap(workshop: Workshop) -> None:
    """Case [C089]."""
    workshop.configure(max_observations_per_scope=1)
    wide = workshop.remember("Dana signed.", tags=["company:acme", "user:dana"])
    workshop.answers(creates(("Dana signed.", wide)))
    workshop.drain("company:acme", "user:dana")
    narrow = workshop.remember("Acme grows.", tags=["company:acme"])
    workshop.answers(creates(("Acme grows.", narrow)))

    workshop.drain("company:acme")

    assert [row["text"] for row in workshop.observations("company:acme")] == ["Acme grows."]


def test_each_scope_of_a_fact_is_asked_under_its_own_mission_alone(workshop: Workshop) -> None:
    """Case [C090]."""
    scopes = [["user:dana"], ["team:exec"], ["company:acme"]]
    missions = {"user": "KEEP ALL", "team": "DECISIONS", "company": "TRENDS"}
    workshop.configure(
        consolidation_strategies=[
            {"scopes": [{"tags": [f"{kind}:*"]}], "observations_mission": mission} for kind, mission in missions.items()
        ]
    )
    workshop.remember("Dana signed a lease.", tags=[tag for (tag,) in scopes], scopes=scopes)
    workshop.answers({})

    for (tag,) in scopes:
        workshop.drain(tag)

    calls = workshop.model.asked("consolidate")
    assert [block(call, "mission")["text"] for call in calls] == list(missions.values())
    for call, own in zip(calls, missions.values(), strict=True):
        assert not any(other in "".join(call.blocks) for other in missions.values() if other != own)


@pytest.mark.parametrize(("tag", "shown"), [("team:exec", 1), ("user:dana", 3)])
def test_a_strategys_budgets_of_evidence_hold_for_its_scopes_alone(workshop: Workshop, tag: str, shown: int) -> None:
    """Case [C091]."""
    few = {"scopes": [{"tags": ["team:*"]}], "consolidation_source_facts_max_tokens_per_observation": 8}
    workshop.configure(consolidation_strategies=[few])
    sources = workshop.remember("Bread is sold here.", "Bread is baked here.", "Bread is eaten here.", tags=[tag])
    workshop.answers(creates(("Bread is sold, baked and eaten.", sources)))
    workshop.drain(tag)
    workshop.remember("Bread is good.", tags=[tag])
    workshop.answers({})

    workshop.drain(tag)

    observations: Any = block(workshop.model.asked("consolidate")[0], "observations")
    assert [len(observation["evidence"]) for observation in observations] == [shown]
