"""Near-duplicates of one exact scope: when they are compared, who decides, and what is kept of both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import nextafter, sqrt
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.consolidate.ask import Caller as ModelCaller
from hindsight_aws.consolidate.ask import ask_for_judgement, judgement_call
from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop, creates, updates
from tests.support.models import ScriptedModel, block, in_turn

OLD, NEW = "The server has 16 GB.", "The server holds 16 GB of memory."


@pytest.fixture
def shop_with(workshop: Workshop, database: Any, store: PostgresStore) -> Callable[..., Workshop]:
    """Makes a workshop of the same tenant with other settings, on a bank of its own."""

    def make(**settings: object) -> Workshop:
        workshop.sql("UPDATE banks SET external_id = 'former' WHERE bank_id = %s", workshop.bank_id)
        return Workshop(database, workshop.tenant, store, **settings)

    return make


def _day(number: int) -> datetime:
    return datetime(2025, 3, number, tzinfo=UTC)


def _near(workshop: Workshop, cosine: float, first: str = OLD, second: str = NEW) -> None:
    """Gives both texts vectors at this cosine."""
    workshop.embedder.fixed |= {first: [1.0, 0.0], second: [cosine, sqrt(1 - cosine**2)]}


def _held(workshop: Workshop, text: str = OLD, tags: Sequence[str] = ()) -> UUID:
    """A fact of the scope with an observation that says the same; the observation."""
    (fact,) = workshop.remember(f"Said: {text}", tags=tags)
    workshop.answers(creates((text, [fact])))
    workshop.drain(*tags)
    (found,) = [row["id"] for row in workshop.observations(*tags) if row["text"] == text]
    return UUID(str(found))


def _said_again(workshop: Workshop, text: str = NEW, *judge: JsonObject, tags: Sequence[str] = ()) -> UUID:
    """Another fact of the scope, of which the model makes an observation of this wording; the fact."""
    (fact,) = workshop.remember(f"Also said: {text}", tags=tags)
    workshop.answers(creates((text, [fact])), judge=judge or [{"action": "merge", "text": NEW}])
    workshop.drain(*tags)
    return fact


def _similarity(workshop: Workshop) -> float:
    """The cosine of the two texts as the database computes it."""
    (row,) = workshop.sql(
        "SELECT 1 - (%s::real[]::halfvec <=> %s::real[]::halfvec) AS cosine",
        list(workshop.embedder.fixed[OLD]),
        list(workshop.embedder.fixed[NEW]),
    )
    return float(row["cosine"])


@pytest.mark.parametrize(
    ("cosine", "questions"),
    [pytest.param(0.9705, 1, id="C066-above"), pytest.param(0.9690, 0, id="C066-below")],
)
def test_texts_within_the_threshold_are_compared(workshop: Workshop, cosine: float, questions: int) -> None:
    _near(workshop, cosine)
    _held(workshop)

    _said_again(workshop)

    assert len(workshop.model.asked("judge_duplicate")) == questions


@pytest.mark.parametrize("is_stored", [True, False], ids=["with-a-stored-one", "within-one-answer"])
def test_c066_a_cosine_of_exactly_the_threshold_is_within_it(
    workshop: Workshop, shop_with: Callable[..., Workshop], is_stored: bool
) -> None:
    _near(workshop, 0.96875)
    exact = _similarity(workshop) if is_stored else 0.96875
    asked = []

    for threshold in (exact, nextafter(exact, 1.0)):
        shop = shop_with(hindsight_api_consolidation_dedup_threshold=threshold)
        _near(shop, 0.96875)
        if is_stored:
            _held(shop)
            _said_again(shop)
        else:
            facts = shop.remember("One.", "Two.")
            shop.answers(creates((OLD, facts[:1]), (NEW, facts[1:])), judge=[{"action": "merge"}])
            shop.drain()
        asked.append(len(shop.model.asked("judge_duplicate")))
        shop.sql("UPDATE banks SET external_id = %s WHERE bank_id = %s", str(threshold), shop.bank_id)

    assert asked == [1, 0]


def test_c067_a_threshold_of_one_compares_nothing(shop_with: Callable[..., Workshop]) -> None:
    shop = shop_with(hindsight_api_consolidation_dedup_threshold=1.0)
    shop.embedder.same = True
    _held(shop)

    _said_again(shop)

    assert shop.model.asked("judge_duplicate") == []
    assert len(shop.observations()) == 2


@pytest.mark.parametrize(
    ("answer", "merges"),
    [
        pytest.param({"action": " MERGE "}, True, id="C068-case-and-blanks"),
        pytest.param({"action": "combine"}, False, id="C068-unknown"),
        pytest.param({"action": ["merge"]}, False, id="C068-list"),
        pytest.param({}, False, id="C068-missing"),
        pytest.param({"text": "They are the same, so merge."}, False, id="C068-prose"),
        pytest.param({"action": None}, False, id="C068-null"),
    ],
)
def test_only_a_clear_verdict_merges(answer: JsonObject, merges: bool) -> None:
    model = ScriptedModel(in_turn({"judge_duplicate": [answer]}))

    verdict = ask_for_judgement(model, judgement_call(ModelCaller("m", "t", "b"), NEW, OLD), lambda usage: None)

    assert verdict.is_same is merges


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        pytest.param({"action": "merge", "text": "  "}, OLD, id="C069-blank"),
        pytest.param({"action": "merge"}, OLD, id="C069-none"),
        pytest.param({"action": "merge", "text": "16 GB, said twice."}, "16 GB, said twice.", id="joint-wording"),
    ],
)
def test_a_merge_without_a_wording_keeps_the_older_one(workshop: Workshop, verdict: JsonObject, text: str) -> None:
    workshop.embedder.same = True
    _held(workshop)

    fact = _said_again(workshop, NEW, verdict)

    (left,) = workshop.observations()
    assert (left["text"], left["proof_count"]) == (text, 2)
    assert str(fact) in left["evidence"]


def test_the_judge_reads_both_full_texts(workshop: Workshop) -> None:
    workshop.embedder.same = True
    long = "It has 16 GB, " + "and more, " * 200 + "as was said."
    _held(workshop, long)

    _said_again(workshop)

    (call,) = workshop.model.asked("judge_duplicate")
    assert block(call, "candidates") == {"new": {"text": NEW}, "existing": {"text": long}}


def test_c070_a_twin_rewritten_while_the_judge_reads_stands_and_the_fact_is_asked_about_again(
    workshop: Workshop,
) -> None:
    workshop.embedder.same = True
    twin = _held(workshop)
    (fact,) = workshop.remember("Said again.")

    def rewrite_meanwhile(call: ModelCall) -> JsonObject:
        """Another worker, who has the lease now, words it otherwise."""
        workshop.sql("UPDATE scopes SET fence = fence + 1, lease_until = '-infinity'")
        workshop.sql("UPDATE memory_units SET text = 'The server has 64 GB.' WHERE id = %s", twin)
        return {"action": "merge", "text": "Lost wording."}

    workshop.answers(creates((NEW, [fact])), judge=[rewrite_meanwhile, {"action": "keep"}])

    assert workshop.drain() is Drained.SUPERSEDED
    assert [row["text"] for row in workshop.observations()] == ["The server has 64 GB."]
    assert workshop.work()[fact] == [("pending", None)]
    assert workshop.drain() is Drained.DONE
    assert sorted(row["text"] for row in workshop.observations()) == ["The server has 64 GB.", NEW]


def test_c071_an_update_that_drifts_into_a_twin_leaves_one_row_with_both_sources_and_widest_dates(
    workshop: Workshop,
) -> None:
    cat, dog = _held(workshop, "Lu has a cat."), _held(workshop, "Lu owns a dog named Rex.")
    (fact,) = workshop.remember("Lu's pet is a dog named Rex.")
    for place, (start, end) in enumerate([(3, 4), (5, 6), (1, 9)]):
        workshop.sql(
            "UPDATE memory_units SET occurred_start = %s, occurred_end = %s WHERE id = ("
            "SELECT id FROM memory_units WHERE fact_type = 'world' ORDER BY created_at OFFSET %s LIMIT 1)",
            _day(start), _day(end), place,
        )  # fmt: skip
    _near(workshop, 0.98, "Lu owns a dog named Rex.", "Lu's dog is Rex.")
    workshop.sql(
        "UPDATE memory_units SET embedding = %s::real[]::halfvec(512) WHERE id = %s",
        workshop.embedder.vector("Lu owns a dog named Rex."), dog,
    )  # fmt: skip
    workshop.answers(updates(cat, "Lu's dog is Rex.", [fact]), judge=[{"action": "merge", "text": "Lu's dog is Rex."}])

    workshop.drain()

    (left,) = workshop.observations()
    assert (left["id"], left["text"], left["proof_count"]) == (dog, "Lu's dog is Rex.", 3)
    assert (left["occurred_start"], left["occurred_end"]) == (_day(1), _day(9))


def test_c072_a_rewritten_observation_is_never_compared_with_itself(workshop: Workshop) -> None:
    workshop.embedder.same = True
    held = _held(workshop)
    (fact,) = workshop.remember("It holds 16 GB.")
    workshop.answers(updates(held, NEW, [fact]))

    workshop.drain()

    assert [row["text"] for row in workshop.observations()] == [NEW]
    assert workshop.model.asked("judge_duplicate") == []


def test_c073_when_every_new_source_went_meanwhile_nothing_is_folded_or_written(workshop: Workshop) -> None:
    workshop.embedder.same = True
    _held(workshop)
    before = workshop.observations()
    (fact,) = workshop.remember("Said again.")

    def delete_meanwhile(call: ModelCall) -> JsonObject:
        workshop.sql("DELETE FROM memory_units WHERE id = %s", fact)
        return {"action": "merge", "text": NEW}

    workshop.answers(creates((NEW, [fact])), judge=[delete_meanwhile])

    assert workshop.drain() is Drained.DONE

    assert workshop.observations() == before


def test_c074_texts_that_differ_in_a_number_stay_apart_when_the_judge_says_so(workshop: Workshop) -> None:
    workshop.embedder.same = True
    _held(workshop)

    _said_again(workshop, "The server has 64 GB.", {"action": "keep"})

    assert sorted(row["text"] for row in workshop.observations()) == [OLD, "The server has 64 GB."]


@pytest.mark.parametrize(
    ("there", "here"),
    [
        pytest.param(["company:c", "user:u"], ["company:c"], id="C075-twin-in-a-wider-tag-set"),
        pytest.param(["company:c"], ["company:c", "user:u"], id="C075-twin-in-a-narrower-one"),
        pytest.param(["user:u"], [], id="C075-untagged"),
    ],
)
def test_a_twin_in_another_scope_is_no_candidate(workshop: Workshop, there: list[str], here: list[str]) -> None:
    workshop.embedder.same = True
    _held(workshop, OLD, there)
    before = workshop.observations(*there)

    _said_again(workshop, OLD, tags=here)

    assert workshop.model.asked("judge_duplicate") == []
    assert workshop.observations(*there) == before
    assert [row["text"] for row in workshop.observations(*here)] == [OLD]


def test_c076_both_sides_of_a_fold_keep_their_wordings_in_history(workshop: Workshop) -> None:
    cat, dog = _held(workshop, "Lu has a cat."), _held(workshop, "Lu has a dog.")
    (fact,) = workshop.remember("Lu's pet is a dog.")
    workshop.answers(updates(cat, "Lu has a dog.", [fact]))

    workshop.drain()

    told = workshop.sql(
        "SELECT observation_id, kind, text, merged_into, added_fact_ids FROM observation_revisions ORDER BY sequence"
    )
    history = {one: [(r["kind"], r["text"]) for r in told if r["observation_id"] == one] for one in (cat, dog)}
    assert history[cat] == [("create", "Lu has a cat."), ("merge", "Lu has a cat.")]
    assert history[dog] == [("create", "Lu has a dog."), ("evidence", "Lu has a dog.")]
    (end,) = [r for r in told if r["kind"] == "merge"]
    (gain,) = [r for r in told if r["kind"] == "evidence"]
    (left,) = workshop.observations()
    assert end["merged_into"] == dog
    assert {str(one) for one in gain["added_fact_ids"]} | {str(told[1]["added_fact_ids"][0])} == set(left["evidence"])


def test_an_exact_twin_that_was_not_shown_takes_the_evidence_without_a_question(
    shop_with: Callable[..., Workshop],
) -> None:
    """However many others are as near as it is."""
    shop = shop_with(hindsight_api_consolidation_max_tokens=1)
    shop.embedder.same = True
    for number in range(4):
        (other,) = shop.remember(f"Note {number}.")
        shop.answers(creates((f"Belief {number}.", [other])), judge=[{"action": "keep"}])
        shop.drain()

    for number in range(4):
        fact = _said_again(shop, f"Belief  {number}.")

        assert shop.model.asked("judge_duplicate") == []
        (twin,) = [row for row in shop.observations() if row["text"] == f"Belief {number}."]
        assert (twin["proof_count"], str(fact) in twin["evidence"]) == (2, True)


def test_near_duplicates_of_one_answer_are_compared_with_each_other(workshop: Workshop) -> None:
    _near(workshop, 0.98)
    facts = workshop.remember("One.", "Two.")
    workshop.answers(creates((OLD, facts[:1]), (NEW, facts[1:])), judge=[{"action": "merge", "text": NEW}])

    workshop.drain()

    (left,) = workshop.observations()
    assert (left["text"], set(left["evidence"])) == (NEW, {str(fact) for fact in facts})
