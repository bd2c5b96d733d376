"""What becomes of a model's reply: the plan, the loss guard, and what is refused whole."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.consolidate.check import make_plan, repaired
from hindsight_aws.consolidate.reply import read_reply
from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.model.plan import Plan, ShownFact, ShownObservation

F = [UUID(int=0xF0000001 << 96 | n) for n in range(8)]
SEEN = [UUID(int=0xA0000001 + n << 96) for n in range(4)]
FACTS = [ShownFact(fact_id, f"Fact number {n} says so.", 1) for n, fact_id in enumerate(F)]
OBSERVATIONS = [ShownObservation(observation_id, f"Belief {n}.", 1) for n, observation_id in enumerate(SEEN)]


def plan_of(reply: dict[str, object], facts: int = 2, room: int | None = None) -> Plan:
    return make_plan(read_reply(reply), FACTS[:facts], OBSERVATIONS, room)


def create(text: str, *facts: int, quotes: list[dict[str, str]] | None = None) -> dict[str, object]:
    return {"text": text, "source_fact_ids": [str(F[n]) for n in facts], "quotes": quotes or []}


def update(target: str, text: str, *facts: int) -> dict[str, object]:
    return {"observation_id": target, **create(text, *facts)}


def test_a_lone_id_is_a_list_of_one() -> None:
    plan = plan_of({"creates": [{"text": "T", "source_fact_ids": str(F[0])}]}, facts=1)

    assert [e.fact_id for e in plan.creates[0].evidence] == [F[0]]


def test_an_exact_quote_is_kept_and_a_wrong_one_replaced_by_the_whole_fact() -> None:
    quotes = [{"fact_id": str(F[0]), "quote": "number 0"}, {"fact_id": str(F[1]), "quote": "never said"}]

    plan = plan_of({"creates": [create("T", 0, 1, quotes=quotes)]})

    assert [(e.quote, e.origin) for e in plan.creates[0].evidence] == [
        ("number 0", "model"),
        ("Fact number 1 says so.", "whole"),
    ]


@pytest.mark.parametrize("known", [0, 1])
def test_c041_unknown_ids_are_ignored_beside_known_ones(known: int) -> None:
    plan = plan_of({"creates": [{"text": "T", "source_fact_ids": [str(F[known]), str(UUID(int=9))]}]})

    assert [e.fact_id for e in plan.creates[0].evidence] == [F[known]]


def test_c040_a_create_that_cites_no_fact_of_the_call_is_dropped_and_its_facts_are_overlooked() -> None:
    plan = plan_of({"creates": [{"text": "T", "source_fact_ids": [str(UUID(int=9))]}]})

    assert plan.creates == ()
    assert plan.overlooked == {F[0], F[1]}
    assert [refusal.action for refusal in plan.refusals] == ["create"]


def test_c042_an_update_that_names_a_fact_is_a_create() -> None:
    plan = plan_of({"updates": [update(str(F[1]), "T", 0)]})

    assert [c.text for c in plan.creates] == ["T"]


def test_c043_two_updates_of_one_observation_become_one_with_the_last_text_and_both_facts() -> None:
    plan = plan_of({"updates": [update(str(SEEN[0]), "first", 0), update(str(SEEN[0]), "last", 1)]})

    assert len(plan.updates) == 1
    assert plan.updates[0].text == "last"
    assert [e.fact_id for e in plan.updates[0].evidence] == [F[0], F[1]]


def test_two_spellings_of_one_observation_are_repaired_before_they_are_joined() -> None:
    miscopied = str(SEEN[0])[:-1] + "9"

    plan = plan_of({"updates": [update(str(SEEN[0]), "first", 0), update(miscopied, "last", 1)]})

    assert [u.observation_id for u in plan.updates] == [SEEN[0]]


def test_c044_a_tail_is_repaired_only_when_one_shown_id_fits() -> None:
    alike = [UUID("12345678-1234-4000-8000-000000000001"), UUID("12345678-1234-4000-8000-000000000002")]

    assert repaired("12345678-1234-4000-8000-00000000dead", alike[:1]) == alike[0]
    assert repaired("12345678-1234-4000-8000-00000000dead", alike) is None
    assert repaired("12345678-12", alike[:1]) is None


def test_c045_an_update_of_what_was_not_shown_is_dropped_and_the_rest_stands() -> None:
    plan = plan_of({"updates": [update(str(UUID(int=7)), "X", 0)], "creates": [create("T", 0, 1)]})

    assert plan.updates == ()
    assert [c.text for c in plan.creates] == ["T"]


def test_c046_an_update_wins_over_a_delete_of_the_same_observation() -> None:
    plan = plan_of(
        {
            "updates": [update(str(SEEN[0]), "T", 0, 1)],
            "deletes": [{"observation_id": str(SEEN[0]), "merged_into": str(SEEN[1])}],
        }
    )

    assert (len(plan.updates), plan.merges) == (1, ())


def test_c047_a_delete_may_spell_its_target_id_but_must_name_one() -> None:
    plan = plan_of({"deletes": [{"id": str(SEEN[0]), "merged_into": str(SEEN[1])}]})

    assert [(m.observation_id, m.into) for m in plan.merges] == [(SEEN[0], SEEN[1])]
    with pytest.raises(ModelReplyMalformed, match=r"deletes\[0\]"):
        read_reply({"deletes": [{"reason": "old"}]})


@pytest.mark.parametrize("heir", [None, str(UUID(int=5)), str(SEEN[0])], ids=["none", "C055-unknown", "C055-itself"])
def test_a_delete_without_an_heir_that_was_shown_is_dropped(heir: str | None) -> None:
    plan = plan_of({"deletes": [{"observation_id": str(SEEN[0]), "merged_into": heir}]})

    assert plan.merges == ()
    assert plan.refused_delete
    assert plan.overlooked == {F[0], F[1]}


def test_a_ring_of_merges_ends_nothing() -> None:
    plan = plan_of(
        {
            "deletes": [
                {"observation_id": str(SEEN[0]), "merged_into": str(SEEN[1])},
                {"observation_id": str(SEEN[1]), "merged_into": str(SEEN[0])},
            ]
        }
    )

    assert plan.merges == ()


@pytest.mark.parametrize("text", ["Belief 0.", "  Belief \n 0. "])
def test_c048_a_create_that_repeats_a_shown_observation_becomes_its_evidence(text: str) -> None:
    plan = plan_of({"creates": [create(text, 0, 1)]})

    assert plan.creates == ()
    assert [(u.observation_id, u.text) for u in plan.updates] == [(SEEN[0], None)]
    assert plan.overlooked == frozenset()


def test_c048_case_makes_a_difference() -> None:
    assert [c.text for c in plan_of({"creates": [create("belief 0.", 0, 1)]}).creates] == ["belief 0."]


def test_c049_a_create_that_repeats_an_update_becomes_its_evidence() -> None:
    plan = plan_of({"updates": [update(str(SEEN[0]), "New words.", 0)], "creates": [create("New  words.", 1)]})

    assert plan.creates == ()
    assert [e.fact_id for e in plan.updates[0].evidence] == [F[0], F[1]]


@pytest.mark.parametrize("text", ["  ", "\u202e\u200b", "…!"], ids=["blank", "invisible", "punctuation"])
def test_c050_an_empty_text_is_refused_and_its_fact_asked_again(text: str) -> None:
    plan = plan_of({"creates": [create(text, 0), create("T", 1)]})

    assert plan.overlooked == {F[0]}


@pytest.mark.parametrize(
    "reply",
    [
        {"creates": [{"source_fact_ids": [str(F[0])]}], "deletes": [{"observation_id": str(SEEN[0])}]},
        {"creates": "none"},
        {"creates": ["text"]},
        {"updates": [create("T", 0)]},
        {"creates": [{"text": "T", "source_fact_ids": [1]}]},
        {"creates": [{"text": "T"}]},
        {"skipped": [{"reason": "x"}]},
        {"answer": "I did it"},
    ],
)
def test_a_malformed_reply_is_refused_whole(reply: dict[str, object]) -> None:
    with pytest.raises(ModelReplyMalformed):
        read_reply(reply)


def test_c053_an_empty_reply_overlooks_every_fact() -> None:
    assert plan_of({}).overlooked == {F[0], F[1]}


def test_c056_a_repeated_id_counts_once() -> None:
    plan = plan_of({"creates": [{"text": "T", "source_fact_ids": [str(F[0])] * 1000}]}, facts=1)

    assert len(plan.creates[0].evidence) == 1


def test_c087_creates_past_the_cap_are_cut_and_their_facts_are_handled() -> None:
    plan = plan_of({"creates": [create("A", 0), create("B", 1)]}, room=1)

    assert [c.text for c in plan.creates] == ["A"]
    assert (plan.capped, plan.overlooked) == (frozenset({F[1]}), frozenset())


def test_c086_without_room_updates_still_work() -> None:
    plan = plan_of({"creates": [create("A", 0)], "updates": [update(str(SEEN[0]), "U", 1)]}, room=0)

    assert plan.creates == ()
    assert len(plan.updates) == 1
    assert plan.capped == {F[0]}


def test_what_is_skipped_without_room_is_kept_out_by_the_cap_and_what_is_left_out_is_overlooked() -> None:
    reply: dict[str, object] = {"skipped": [{"fact_id": str(F[0]), "reason": "no room"}]}
    first, second, none = frozenset(F[:1]), frozenset(F[1:2]), frozenset[UUID]()

    full, roomy = plan_of(reply, room=0), plan_of(reply, room=1)

    assert (full.capped, full.skipped, full.overlooked, full.is_full) == (first, none, second, True)
    assert (roomy.capped, roomy.skipped, roomy.overlooked, roomy.is_full) == (none, first, second, False)


IDS = st.sampled_from([*map(str, F[:3]), *map(str, SEEN), str(UUID(int=3)), "", "not an id"])
TEXTS = st.sampled_from(["Belief 0.", "Belief 1.", "New.", "Newer.", " "])
ACTIONS = st.fixed_dictionaries({"text": TEXTS, "source_fact_ids": st.lists(IDS, max_size=4), "observation_id": IDS})
DELETES = st.fixed_dictionaries({"observation_id": IDS, "merged_into": st.none() | IDS})
REPLIES = st.fixed_dictionaries(
    {
        "creates": st.lists(ACTIONS, max_size=4),
        "updates": st.lists(ACTIONS, max_size=4),
        "deletes": st.lists(DELETES, max_size=4),
        "skipped": st.lists(st.fixed_dictionaries({"fact_id": IDS}), max_size=3),
    }
)


@given(REPLIES, st.none() | st.integers(0, 3))
def test_whatever_the_reply_every_fact_is_accounted_for_once_and_nothing_ends_without_an_heir(
    reply: dict[str, object], room: int | None
) -> None:
    plan = plan_of(reply, facts=3, room=room)

    evidence = [e for c in plan.creates for e in c.evidence] + [e for u in plan.updates for e in u.evidence]
    used = {e.fact_id for e in evidence}
    parts = (used, plan.capped, plan.skipped, plan.overlooked)
    assert set().union(*parts) == set(F[:3])
    assert sum(map(len, parts)) == 3
    assert all(e.quote in FACTS[F.index(e.fact_id)].text for e in evidence)
    assert {u.observation_id for u in plan.updates} <= set(SEEN)
    ended = {m.observation_id for m in plan.merges}
    assert all(m.into in SEEN and m.into not in ended for m in plan.merges)
    assert not ended & {u.observation_id for u in plan.updates}
    assert room is None or len(plan.creates) <= room
