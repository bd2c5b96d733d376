"""Undoing a run: the scope is as it was before, unless later runs build on it; then they are named."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.consolidate.undo import Undone, revert
from hindsight_aws.errors import Conflict
from hindsight_aws.model.ids import RunId
from hindsight_aws.model.principal import Principal
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller
from tests.support.consolidation import Workshop, creates, updates
from tests.support.invariants import broken
from tests.support.rebuilding import TRENDS, drain_woken, listening, run_sweep

BANK = "/v1/default/banks/bank"
_STATE = (
    "SELECT o.id, o.text, o.proof_count, o.occurred_start, o.mentioned_at, o.tags, o.created_by, o.last_by, o.terms, "
    "o.embedding::text, (SELECT jsonb_agg(jsonb_build_array(e.fact_id, e.quote, e.origin) ORDER BY e.fact_id) "
    "FROM observation_evidence e WHERE e.observation_id = o.id) AS evidence, "
    "(SELECT array_agg(t.term ORDER BY t.term) FROM unit_terms t WHERE t.unit_id = o.id) AS words, "
    "(SELECT array_agg(t.tag ORDER BY t.tag) FROM unit_tags t WHERE t.unit_id = o.id) AS found_by "
    "FROM memory_units o WHERE o.fact_type = 'observation' ORDER BY o.id"
)


def _state(workshop: Workshop) -> list[dict[str, Any]]:
    """All of every observation but the times at which its row was written."""
    with psycopg.connect(workshop.database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        assert broken(rows, [workshop.bank_id]) == []
    return workshop.sql(_STATE)


def _runs(workshop: Workshop) -> list[str]:
    """The runs, oldest first."""
    return [str(row["run_id"]) for row in workshop.sql("SELECT run_id FROM consolidation_runs ORDER BY sequence")]


def _revert(call: Caller, run_id: str, body: object = None) -> Answer:
    return call("POST", f"{BANK}/consolidation/runs/{run_id}/revert", body or {})


@pytest.fixture
def story(workshop: Workshop) -> tuple[Workshop, list[UUID]]:
    """Two observations of a first run, and one fact about both that is not consolidated yet."""
    facts = workshop.remember("Kim likes tea.", "Kim likes coffee.", tags=["user:kim"])
    workshop.answers(
        creates(("Kim likes tea.", [facts[0]]), ("Kim likes coffee.", [facts[1]]), quotes={facts[0]: "likes tea"})
    )
    workshop.drain("user:kim")
    facts += workshop.remember("Kim likes hot drinks.", tags=["user:kim"])
    return workshop, facts


def test_a_run_that_created_leaves_nothing_behind(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story

    answer = _revert(call, _runs(workshop)[0])

    assert (answer.status, answer.json()["observations_removed"], answer.json()["facts_reopened"]) == (200, 2, 2)
    assert _state(workshop) == []
    assert {workshop.work()[fact][0] for fact in facts[:2]} == {("pending", None)}


def test_a_rewrite_a_merge_and_a_create_of_one_run_are_all_undone(
    story: tuple[Workshop, list[UUID]], call: Caller
) -> None:
    workshop, facts = story
    before = _state(workshop)
    coffee, tea = (row["id"] for row in workshop.observations("user:kim"))
    told = updates(tea, "Kim likes tea and other hot drinks.", [facts[2]])
    told |= {"deletes": [{"observation_id": str(coffee), "merged_into": str(tea)}]}
    workshop.answers(told | creates(("Kim drinks.", [facts[2]])))
    workshop.drain("user:kim")
    assert len(_state(workshop)) == 2

    answer = _revert(call, _runs(workshop)[1])

    done = answer.json()
    assert (done["observations_removed"], done["observations_restored"], done["facts_reopened"]) == (1, 2, 1)
    assert _state(workshop) == before
    assert workshop.work()[facts[2]] == [("pending", None)]


def test_what_was_undone_stays_in_the_history(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story
    tea = workshop.observations("user:kim")[1]["id"]
    workshop.answers(updates(tea, "Kim hates tea.", [facts[2]]))
    workshop.drain("user:kim")

    _revert(call, _runs(workshop)[1])

    history = call("GET", f"{BANK}/memories/{tea}/history").json()
    assert [(change["kind"], change["previous_text"]) for change in history] == [
        ("rewrite", "Kim likes tea."),
        ("revert", "Kim hates tea."),
    ]
    assert history[1]["provenance"]["reverts"] == _runs(workshop)[1]


def test_a_run_that_later_ones_build_on_is_refused_and_they_are_named(
    story: tuple[Workshop, list[UUID]], call: Caller
) -> None:
    workshop, facts = story
    tea = workshop.observations("user:kim")[1]["id"]
    workshop.answers(updates(tea, "Kim loves tea.", [facts[2]]))
    workshop.drain("user:kim")
    before = _state(workshop)
    first, second = _runs(workshop)

    refused = _revert(call, first)

    assert refused.status == 409
    assert second in refused.json()["detail"]
    assert first not in refused.json()["detail"]
    assert _state(workshop) == before
    assert [_revert(call, run).status for run in (second, first)] == [200, 200]
    assert _state(workshop) == []


def test_a_run_is_undone_once(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, _ = story
    (run,) = _runs(workshop)

    answers = [_revert(call, run).status for _ in range(2)]

    assert answers == [200, 409]
    listed = call("GET", f"{BANK}/consolidation/runs").json()["runs"]
    assert [entry["reverted_at"] is not None for entry in listed] == [True]


def test_what_would_come_back_beside_its_twin_is_refused(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story
    tea = workshop.observations("user:kim")[1]["id"]
    workshop.answers(updates(tea, "Kim is a drinker.", [facts[2]]))
    workshop.drain("user:kim")
    again = workshop.remember("Kim likes tea!", tags=["user:kim"])
    workshop.answers(creates(("Kim likes tea.", again)))
    workshop.drain("user:kim")

    refused = _revert(call, _runs(workshop)[1])

    assert refused.status == 409
    assert _runs(workshop)[2] in refused.json()["detail"]


def test_a_run_whose_facts_went_is_refused(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story
    with workshop.store.transaction(workshop.tenant) as tx:
        tx.observations.sweep(workshop.bank_id, [facts[0]])

    refused = _revert(call, _runs(workshop)[0])

    assert refused.status == 409
    assert "changed or gone" in refused.json()["detail"]


def test_reopened_facts_wait_until_somebody_asks(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story
    workshop.sql("DELETE FROM consolidation_work WHERE fact_id = %s", facts[2])
    _revert(call, _runs(workshop)[0])
    workshop.answers(creates(("Kim drinks tea.", [facts[0]]), ("Kim drinks coffee.", [facts[1]])))

    run_sweep(workshop)
    drain_woken(workshop)
    untouched = workshop.model.asked("consolidate")
    ended = workshop.drain("user:kim")
    call("POST", f"{BANK}/consolidate")
    asked = workshop.drain("user:kim")

    assert (untouched, ended, asked) == ([], Drained.DONE, Drained.DONE)
    assert {row["text"] for row in workshop.observations("user:kim")} == {"Kim drinks tea.", "Kim drinks coffee."}


def test_with_retry_reopened_facts_are_due_at_once(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, facts = story
    _revert(call, _runs(workshop)[0], {"retry": True})
    workshop.answers(creates(*[(f"Belief {n}.", [fact]) for n, fact in enumerate(facts)]))

    workshop.drain("user:kim")

    assert {row["text"] for row in workshop.observations("user:kim")} == {"Belief 0.", "Belief 1.", "Belief 2."}


def test_a_scope_that_is_being_worked_on_answers_503_and_changes_nothing(
    story: tuple[Workshop, list[UUID]], call: Caller
) -> None:
    workshop, _ = story
    before = _state(workshop)
    scope_id = workshop.scope("user:kim")
    with workshop.store.transaction(workshop.tenant) as tx:
        assert tx.consolidation.take_lease(workshop.bank_id, scope_id, 60.0)

    answer = _revert(call, _runs(workshop)[0])

    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert _state(workshop) == before


def test_a_change_while_the_wordings_are_embedded_is_not_written_over(story: tuple[Workshop, list[UUID]]) -> None:
    workshop, facts = story
    tea = workshop.observations("user:kim")[1]["id"]
    workshop.answers(updates(tea, "Kim loves tea.", [facts[2]]))
    workshop.drain("user:kim")
    run = RunId(UUID(_runs(workshop)[1]))
    embed = workshop.embedder.embed

    def swept_meanwhile(*args: Any) -> Any:
        with workshop.store.transaction(workshop.tenant) as tx:
            tx.observations.sweep(workshop.bank_id, [facts[0]])
        return embed(*args)

    workshop.embedder.embed = swept_meanwhile  # type: ignore[assignment,method-assign]  # a race, made certain
    with pytest.raises(Conflict, match="have changed or gone since"):
        revert(workshop.ports, Principal(workshop.tenant, "tester"), "bank", run, retry=False)

    assert [row["text"] for row in workshop.observations("user:kim")] == ["Kim likes coffee."]
    assert workshop.sql("SELECT scope_id FROM scopes WHERE lease_until > now()") == []


def test_of_two_who_undo_a_run_at_once_the_second_is_told_that_it_is_done(
    story: tuple[Workshop, list[UUID]], monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop, facts = story
    tea = workshop.observations("user:kim")[1]["id"]
    workshop.answers(updates(tea, "Kim loves tea.", [facts[2]]))
    workshop.drain("user:kim")
    run, who = RunId(UUID(_runs(workshop)[1])), Principal(workshop.tenant, "tester")
    other = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    theirs, is_met, sleep, embed = replace(workshop.ports, store=other), Event(), time.sleep, workshop.embedder.embed
    second: list[Future[Undone]] = []

    def pauses(seconds: float) -> None:
        is_met.set()
        sleep(seconds)

    with ThreadPoolExecutor(1) as pool:

        def with_company(*args: Any) -> Any:
            if not second:
                second.append(pool.submit(revert, theirs, who, "bank", run, retry=False))
                assert is_met.wait(60)
            return embed(*args)

        monkeypatch.setattr(time, "sleep", pauses)
        monkeypatch.setattr(workshop.embedder, "embed", with_company)
        first = revert(workshop.ports, who, "bank", run, retry=False)

    assert first.restored == 1
    with pytest.raises(Conflict, match="reverted already"):
        second[0].result()
    other.close()


def test_what_a_rebuild_replaced_cannot_be_brought_back(workshop: Workshop, call: Caller) -> None:
    listening(workshop).configure(observations_mission="M")
    workshop.remember("Kim likes tea.", tags=["user:kim"])
    workshop.drain("user:kim")
    run_sweep(workshop)
    workshop.configure(observations_mission=TRENDS)
    run_sweep(workshop)
    while_rebuilding = _revert(call, _runs(workshop)[0])
    drain_woken(workshop)

    sealed = _revert(call, _runs(workshop)[0])

    assert (while_rebuilding.status, sealed.status) == (409, 409)
    assert "sealed" in sealed.json()["detail"]
    listed = call("GET", f"{BANK}/consolidation/runs").json()
    assert [run["is_sealed"] for run in listed["runs"]] == [False, True]


def test_runs_are_listed_by_scope_and_status(story: tuple[Workshop, list[UUID]], call: Caller) -> None:
    workshop, _ = story
    workshop.remember("Untagged.")
    workshop.answers({"creates": "broken"})
    workshop.drain()

    every = call("GET", f"{BANK}/consolidation/runs").json()
    of_kim = call("GET", f"{BANK}/consolidation/runs?scope=user:kim").json()
    untagged = call("GET", f"{BANK}/consolidation/runs?scope=&status=failed&limit=1").json()

    assert (every["total"], of_kim["total"], untagged["total"]) == (2, 1, 1)
    assert of_kim["runs"][0]["counts"]["created"] == 2
    assert (of_kim["runs"][0]["strategy_name"], of_kim["runs"][0]["prompt"]) == ("default", "consolidate@1")
    assert untagged["runs"][0]["tags"] == []
    assert call("GET", f"{BANK}/consolidation/runs?status=odd").status == 400


def test_a_run_that_is_not_there_is_not_found(workshop: Workshop, call: Caller) -> None:
    assert _revert(call, str(uuid4())).status == 404
    assert _revert(call, "x").status == 400


def test_an_undo_while_vectors_are_replaced_is_told_when_to_come_again(
    story: tuple[Workshop, list[UUID]], call: Caller
) -> None:
    workshop, _ = story
    before = _state(workshop)
    closes = "UPDATE banks SET vectors_closed_until = now() + interval '40 seconds'"
    with psycopg.connect(workshop.database.admin_url, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        rows.execute(closes)

    answer = _revert(call, _runs(workshop)[0])

    assert answer.status == 503, answer.body
    assert int(answer.headers["retry-after"]) <= 40
    assert _state(workshop) == before
