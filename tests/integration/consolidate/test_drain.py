"""Draining one scope on a real database: what is written, what is refused, what is left."""

from __future__ import annotations

from uuid import UUID

import pytest

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.errors import HindsightError, ModelReplyMalformed, ModelThrottled, ModelUnavailable
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop, creates, updates
from tests.support.database import Database


@pytest.fixture
def workshop(database: Database, tenant: TenantId, store: PostgresStore) -> Workshop:
    return Workshop(database, tenant, store)


def test_a_fact_becomes_an_observation_with_its_quote_and_provenance(workshop: Workshop) -> None:
    (fact,) = workshop.remember("Mina sells bread on Mondays.", tags=["user:mina"])
    workshop.answers(creates(("Mina sells bread.", [fact]), quotes={fact: "Mina sells bread"}))

    ended = workshop.drain("user:mina")

    (observation,) = workshop.observations("user:mina")
    assert ended is Drained.DONE
    assert (observation["text"], observation["tags"], observation["proof_count"]) == (
        "Mina sells bread.",
        ["user:mina"],
        1,
    )
    assert observation["evidence"] == {str(fact): ["Mina sells bread", "model"]}
    assert observation["created_by"]["strategy_name"] == "default"
    assert observation["created_by"]["prompt"] == "consolidate@1"
    assert workshop.work() == {fact: [("done", "created")]}


def test_a_second_fact_refines_the_observation_and_its_history_keeps_both_wordings(workshop: Workshop) -> None:
    (first,) = workshop.remember("Mina sells bread.")
    workshop.answers(creates(("Mina sells bread.", [first])))
    workshop.drain()
    (observation,) = workshop.observations()
    (second,) = workshop.remember("Mina sells bread and cake.")
    workshop.answers(updates(observation["id"], "Mina sells bread and cake.", [second]))

    workshop.drain()

    (refined,) = workshop.observations()
    assert refined["id"] == observation["id"]
    assert (refined["text"], refined["proof_count"]) == ("Mina sells bread and cake.", 2)
    revisions = workshop.sql("SELECT kind, text FROM observation_revisions ORDER BY sequence")
    assert [(r["kind"], r["text"]) for r in revisions] == [
        ("create", "Mina sells bread."),
        ("rewrite", "Mina sells bread and cake."),
    ]


def test_the_model_is_shown_observations_of_the_exact_scope_alone(workshop: Workshop) -> None:
    (private,) = workshop.remember("Dana signed the Northwind lease.", tags=["user:dana", "company:acme"])
    workshop.answers(creates(("Dana signed the Northwind lease.", [private])))
    workshop.drain("company:acme", "user:dana")
    (public,) = workshop.remember("Dana signed the Northwind lease today.", tags=["company:acme"])
    (shared,) = workshop.remember("Dana signed the Northwind lease again.", scopes=[[]])
    workshop.answers({"skipped": []})

    workshop.drain("company:acme")
    workshop.drain()

    prompts = ["\n".join(call.blocks) for call in workshop.model.asked("consolidate")]
    assert len(prompts) == 2
    assert not any("proof_count" in prompt for prompt in prompts)
    assert len(workshop.observations("company:acme", "user:dana")) == 1
    assert workshop.work()[public] == workshop.work()[shared] == [("done", "not_durable")]


def test_each_scope_is_asked_under_its_own_mission(workshop: Workshop) -> None:
    workshop.configure(
        observations_mission="BANK MISSION",
        consolidation_strategies=[{"scopes": [{"tags": ["company:*"]}], "observations_mission": "TRENDS ONLY"}],
    )
    workshop.remember(
        "Dana signed a lease.", tags=["user:dana", "company:acme"], scopes=[["user:dana"], ["company:acme"]]
    )
    workshop.answers({})

    workshop.drain("user:dana")
    workshop.drain("company:acme")

    own, company = ("\n".join(call.blocks) for call in workshop.model.asked("consolidate"))
    assert "BANK MISSION" in own
    assert "TRENDS ONLY" not in own
    assert "TRENDS ONLY" in company
    assert "BANK MISSION" not in company


def test_c051_an_overlooked_fact_is_asked_about_again_and_then_settled(workshop: Workshop) -> None:
    facts = workshop.remember(*[f"Item {n} is blue." for n in range(3)])
    workshop.answers(creates(("Two are blue.", facts[:2])), {})

    ended = workshop.drain()

    sizes = [call.blocks[-2].count('"id"') for call in workshop.model.asked("consolidate")]
    assert ended is Drained.DONE
    assert sizes == [3, 1]
    assert workshop.work()[facts[2]] == [("done", "not_durable")]


def test_c053_an_empty_answer_for_several_facts_settles_none_until_each_was_alone(workshop: Workshop) -> None:
    facts = workshop.remember(*[f"Item {n} is blue." for n in range(3)])
    workshop.answers({})

    workshop.drain()

    sizes = [call.blocks[-2].count('"id"') for call in workshop.model.asked("consolidate")]
    assert sizes == [3, 1, 1, 1]
    assert all(workshop.work()[fact] == [("done", "not_durable")] for fact in facts)


def test_c101_one_poisonous_fact_in_eight_costs_only_itself(workshop: Workshop) -> None:
    facts = workshop.remember(*[f"Item {n} is {'rotten' if n == 5 else 'blue'}." for n in range(8)])

    def answer(call: ModelCall) -> JsonObject:
        block = call.blocks[-2]
        if "rotten" in block:
            return {"creates": "broken"}
        return creates(*[(f"Belief about {fact}.", [fact]) for fact in facts if str(fact) in block])

    workshop.answers(answer)

    workshop.drain()

    states = {fact: workshop.work()[fact][0][0] for fact in facts}
    assert [states[fact] for fact in facts] == ["done"] * 5 + ["failed"] + ["done"] * 2
    asked = ["\n".join(call.blocks) for call in workshop.model.asked("consolidate")]
    assert len(asked) == len(set(asked)) <= 8
    assert len(workshop.observations()) == 7


def test_t07_a_reply_that_deletes_everything_and_offers_nothing_changes_nothing(workshop: Workshop) -> None:
    known = workshop.remember("Kim likes tea.", "Kim likes coffee.")
    workshop.answers(creates(("Kim likes tea.", [known[0]]), ("Kim likes coffee.", [known[1]])))
    workshop.drain()
    before = workshop.observations()
    (fact,) = workshop.remember("Kim likes hot drinks.")
    workshop.answers(
        {"creates": [{"source_fact_ids": [str(fact)]}], "deletes": [{"observation_id": str(o["id"])} for o in before]}
    )

    workshop.drain()

    assert workshop.observations() == before
    assert workshop.work()[fact] == [("failed", None)]


def test_t12_a_lone_delete_is_refused_and_its_fact_asked_again_with_the_refusal_named(workshop: Workshop) -> None:
    (loves,) = workshop.remember("Pia loves spicy food.")
    workshop.answers(creates(("Pia loves spicy food.", [loves])))
    workshop.drain()
    (before,) = workshop.observations()
    (hates,) = workshop.remember("Pia hates spicy food.")
    workshop.answers(
        {"deletes": [{"observation_id": str(before["id"])}]},
        updates(before["id"], "Pia loved spicy food and now hates it.", [hates]),
    )

    workshop.drain()

    (after,) = workshop.observations()
    assert (after["id"], after["text"]) == (before["id"], "Pia loved spicy food and now hates it.")
    first, second = ("\n".join(call.blocks) for call in workshop.model.asked("consolidate"))
    assert 'kind="refused"' not in first
    assert 'kind="refused"' in second


def test_c054_a_merge_moves_evidence_and_leaves_a_tombstone(workshop: Workshop) -> None:
    one, two = workshop.remember("Rui coaches chess.", "Rui teaches chess.")
    workshop.answers(creates(("Rui coaches chess.", [one]), ("Rui teaches chess at school.", [two])))
    workshop.drain()
    keep, end = workshop.observations()
    (fact,) = workshop.remember("Rui also plays chess.")
    workshop.answers(
        {
            "skipped": [{"fact_id": str(fact)}],
            "deletes": [{"observation_id": str(end["id"]), "merged_into": str(keep["id"])}],
        }
    )

    workshop.drain()

    (left,) = workshop.observations()
    assert left["id"] == keep["id"]
    assert set(left["evidence"]) == {str(one), str(two)}
    assert left["proof_count"] == 2
    tombstone = workshop.sql(
        "SELECT * FROM observation_revisions WHERE observation_id = %s AND kind = 'merge'", end["id"]
    )
    assert [row["merged_into"] for row in tombstone] == [keep["id"]]


def test_t13_near_duplicates_stay_apart_when_the_judge_says_keep(workshop: Workshop) -> None:
    workshop.embedder.same = True
    (first,) = workshop.remember("The server has 16 GB.")
    workshop.answers(creates(("The server has 16 GB.", [first])))
    workshop.drain()
    (second,) = workshop.remember("The server has 64 GB.")
    workshop.answers(creates(("The server has 64 GB.", [second])), judge=[{"action": "keep"}])

    workshop.drain()

    assert len(workshop.observations()) == 2


def test_t13_near_duplicates_become_one_with_both_sources_when_it_says_merge(workshop: Workshop) -> None:
    workshop.embedder.same = True
    (first,) = workshop.remember("The server has 16 GB.")
    workshop.answers(creates(("The server has 16 GB.", [first])))
    workshop.drain()
    (second,) = workshop.remember("The server has 16 GB of memory.")
    workshop.answers(
        creates(("The server has 16 GB of memory.", [second])), judge=[{"action": " MERGE ", "text": "It has 16 GB."}]
    )

    workshop.drain()

    (observation,) = workshop.observations()
    assert observation["text"] == "It has 16 GB."
    assert set(observation["evidence"]) == {str(first), str(second)}


def test_c071_an_update_that_drifts_into_a_twin_becomes_one_row_with_both_sources(workshop: Workshop) -> None:
    one, two = workshop.remember("Lu has a cat.", "Lu owns a dog named Rex.")
    workshop.answers(creates(("Lu has a cat.", [one]), ("Lu owns a dog named Rex.", [two])))
    workshop.drain()
    cat, dog = workshop.observations()
    (fact,) = workshop.remember("Lu's pet is a dog named Rex.")
    workshop.answers(updates(cat["id"], "Lu owns a dog named Rex.", [fact]))

    workshop.drain()

    (left,) = workshop.observations()
    assert left["id"] == dog["id"]
    assert set(left["evidence"]) == {str(one), str(two), str(fact)}
    assert workshop.model.asked("judge_duplicate") == []


def test_t03_without_room_nothing_is_created_and_nothing_waits(workshop: Workshop) -> None:
    workshop.configure(
        consolidation_strategies=[{"scopes": [{"tags": ["company:*"]}], "max_observations_per_scope": 0}]
    )
    (fact,) = workshop.remember("Acme moved to Lyon.", tags=["company:acme"])
    workshop.answers(creates(("Acme is in Lyon.", [fact])))

    workshop.drain("company:acme")

    assert workshop.observations("company:acme") == []
    assert workshop.work()[fact] == [("done", "capped")]


def test_c088_the_cap_holds_in_the_untagged_scope_too(workshop: Workshop) -> None:
    workshop.configure(max_observations_per_scope=1)
    facts = workshop.remember("One is red.", "Two is green.")
    workshop.answers(creates(("One is red.", [facts[0]]), ("Two is green.", [facts[1]])))

    workshop.drain()

    assert [o["text"] for o in workshop.observations()] == ["One is red."]


@pytest.mark.parametrize("broken", [ModelUnavailable("down"), ModelThrottled("slow down")])
def test_t11_while_the_model_is_down_facts_wait_and_are_then_consolidated(
    workshop: Workshop, broken: HindsightError
) -> None:
    facts = workshop.remember("A is red.", "B is red.", "C is red.")
    workshop.answers(broken)

    first = workshop.drain()

    assert first is Drained.DEFERRED
    assert all(workshop.work()[fact] == [("pending", None)] for fact in facts)
    workshop.sql("UPDATE consolidation_work SET due_at = now()")
    workshop.answers(creates(("A, B and C are red.", facts)))
    assert workshop.drain() is Drained.DONE
    assert all(workshop.work()[fact] == [("done", "created")] for fact in facts)


def test_every_call_is_in_the_ledger_failed_ones_too(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")
    workshop.answers(ModelReplyMalformed("prose"))

    workshop.drain()

    ledger = workshop.sql("SELECT task, status, input_tokens FROM usage_ledger")
    assert [(row["task"], row["status"], row["input_tokens"]) for row in ledger] == [("consolidate", "malformed", 100)]
    assert workshop.work()[fact] == [("failed", None)]


def test_c119_a_fact_edited_while_the_model_answers_discards_the_whole_answer(workshop: Workshop) -> None:
    facts = workshop.remember("A is red.", "B is red.")

    def edit_then_answer(call: ModelCall) -> JsonObject:
        workshop.sql("UPDATE memory_units SET version = version + 1 WHERE id = %s", facts[0])
        return creates(("A and B are red.", facts))

    workshop.answers(edit_then_answer, creates(("A and B are red, still.", facts)))

    workshop.drain()

    assert [o["text"] for o in workshop.observations()] == ["A and B are red, still."]


def test_c117_a_fact_deleted_while_the_model_answers_is_evidence_of_nothing(workshop: Workshop) -> None:
    facts = workshop.remember("A is red.", "B is red.")

    def delete_then_answer(call: ModelCall) -> JsonObject:
        workshop.sql("DELETE FROM memory_units WHERE id = %s", facts[0])
        return creates(("A and B are red.", facts))

    workshop.answers(delete_then_answer, creates(("B is red.", facts[1:])))

    workshop.drain()

    (observation,) = workshop.observations()
    assert set(observation["evidence"]) == {str(facts[1])}


def test_facts_that_keep_changing_are_left_for_later_after_a_few_calls(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")

    def edit_then_answer(call: ModelCall) -> JsonObject:
        workshop.sql("UPDATE memory_units SET version = version + 1 WHERE id = %s", fact)
        return creates(("A is red.", [fact]))

    workshop.answers(edit_then_answer)

    ended = workshop.drain()

    assert ended is Drained.DEFERRED
    assert len(workshop.model.calls) == 3
    assert workshop.work()[fact] == [("pending", None)]
    assert workshop.wakeups.delays == [5]


def test_a_policy_changed_while_the_model_answers_discards_the_answer(workshop: Workshop) -> None:
    (fact,) = workshop.remember("Dana signed with Northwind.")

    def change_then_answer(call: ModelCall) -> JsonObject:
        workshop.configure(observations_mission="No names.")
        return creates(("Dana signed with Northwind.", [fact]))

    workshop.answers(change_then_answer, creates(("Somebody signed a contract.", [fact])))

    workshop.drain()

    assert [o["text"] for o in workshop.observations()] == ["Somebody signed a contract."]
    assert "No names." in "\n".join(workshop.model.calls[-1].blocks)


def test_c143_a_second_delivery_leaves_without_a_model_call_and_the_holder_looks_again(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")
    seen: list[Drained] = []

    def deliver_again(call: ModelCall) -> JsonObject:
        other = PostgresStore(lambda: workshop.database.write_url)
        mine, workshop.store = workshop.store, other
        seen.append(workshop.drain())
        workshop.store = mine
        other.close()
        late.extend(workshop.remember("B is red."))
        return creates(("A is red.", [fact]))

    late: list[UUID] = []
    workshop.answers(deliver_again, lambda call: creates(("B is blue.", late)))

    workshop.drain()

    assert seen == [Drained.HELD]
    assert workshop.work()[late[0]] == [("done", "created")]


def test_c144_a_worker_whose_lease_was_taken_over_writes_nothing(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")

    def lose_the_lease(call: ModelCall) -> JsonObject:
        workshop.sql("UPDATE scopes SET fence = fence + 1")
        return creates(("A is red.", [fact]))

    workshop.answers(lose_the_lease)

    assert workshop.drain() is Drained.SUPERSEDED
    assert workshop.observations() == []
    assert workshop.work()[fact] == [("pending", None)]


@pytest.mark.parametrize("answer", [{"creates": "broken"}, ModelUnavailable("down")])
def test_a_worker_whose_lease_was_taken_over_neither_fails_nor_defers_facts(
    workshop: Workshop, answer: JsonObject | Exception
) -> None:
    (fact,) = workshop.remember("A is red.")

    def lose_the_lease(call: ModelCall) -> JsonObject:
        workshop.sql("UPDATE scopes SET fence = fence + 1")
        if isinstance(answer, Exception):
            raise answer
        return answer

    workshop.answers(lose_the_lease)

    assert workshop.drain() is Drained.SUPERSEDED
    (row,) = workshop.sql("SELECT state, calls, deferrals, error FROM consolidation_work WHERE fact_id = %s", fact)
    assert row == {"state": "pending", "calls": 1, "deferrals": 0, "error": None}


def test_a_text_the_database_refuses_is_a_bad_answer_and_is_not_asked_for_again(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")
    workshop.answers(creates(("A is\x00 red.", [fact])))

    ended = workshop.drain()

    assert ended is Drained.DONE
    assert workshop.work()[fact] == [("failed", None)]
    assert len(workshop.model.calls) == 1


def test_t33_a_bank_that_already_holds_unreadable_strategies_still_consolidates(workshop: Workshop) -> None:
    (fact,) = workshop.remember("Acme opened in Lyon.", tags=["company:acme"])
    workshop.configure(
        consolidation_strategies=[{"scopes": [{"tags": ["company:*"]}], "max_observations_per_scope": "5"}]
    )
    workshop.answers(creates(("Acme opened in Lyon.", [fact])))

    workshop.drain("company:acme")

    assert workshop.work()[fact] == [("done", "created")]


def test_c150_without_time_for_a_call_the_scope_is_woken_again(workshop: Workshop) -> None:
    (fact,) = workshop.remember("A is red.")
    workshop.answers({})

    ended = workshop.drain(seconds=5.0)

    assert ended is Drained.UNFINISHED
    assert workshop.wakeups.scopes == [(workshop.tenant, workshop.bank_id, workshop.scope())]
    assert workshop.model.calls == []
    assert workshop.work()[fact] == [("pending", None)]


def test_counters_follow_observations(workshop: Workshop) -> None:
    facts = workshop.remember("A is red.", "B is green.")
    workshop.answers(creates(("A is red.", [facts[0]]), ("B is green.", [facts[1]])))

    workshop.drain()

    (counted,) = workshop.sql(
        "SELECT sum(units) AS units, sum(terms) AS terms FROM bank_counters WHERE fact_type = 'observation'"
    )
    (held,) = workshop.sql(
        "SELECT count(*) AS units, sum(terms) AS terms FROM memory_units WHERE fact_type = 'observation'"
    )
    assert (counted["units"], counted["terms"]) == (held["units"], held["terms"])


def test_c114_when_a_fact_goes_its_observation_goes_and_the_other_source_waits_again(workshop: Workshop) -> None:
    gone, stays = workshop.remember("A is red.", "A is really red.")
    workshop.answers(creates(("A is red.", [gone, stays]), quotes={gone: "red"}))
    workshop.drain()

    with workshop.store.transaction(workshop.tenant) as tx:
        woken = tx.observations.sweep(workshop.bank_id, [gone])
    workshop.sql("DELETE FROM memory_units WHERE id = %s", gone)

    assert woken == [workshop.scope()]
    assert workshop.observations() == []
    assert workshop.work() == {stays: [("pending", None)]}
    left = workshop.sql("SELECT text, evidence FROM observation_revisions")
    assert all(row["text"] is None and not any("quote" in piece for piece in row["evidence"]) for row in left)
