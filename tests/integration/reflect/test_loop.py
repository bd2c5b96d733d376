"""The loop on real rows: what is forced, what is compacted, what is read in parts, shortened, ended and cancelled."""

from __future__ import annotations

import itertools
import json
import threading
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from hindsight_aws.errors import ModelInputTooLong, ModelReplyMalformed, ModelThrottled
from hindsight_aws.model.ids import RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.ports.store import DueBy
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.request import Budget, ReflectRequest
from hindsight_aws.reflect.steps.run_tool import GUIDANCE
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.pages import put_page
from tests.support.reflect import Rig, Said, done, make_rig, uses
from tests.support.units import Unit

WHERE = ReflectRequest("Where does Bea live?", shows_facts=True, shows_tool_calls=True)
ROME = Unit("Bea moved to Rome.", mentioned_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
THAI = Unit("Bea speaks Thai.")
AGAIN = uses(("recall", {"reason": "r", "query": "Bea"}))


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def tasks_of(rig: Rig) -> list[str]:
    """The tasks the model was asked, in order."""
    return [call.task for call in rig.model.calls]


def follows(call: ModelCall) -> Said:
    """A model that does what it is told, and answers as soon as it may."""
    if call.forced_tool in ("search_mental_models", "search_observations", "recall"):
        return uses((call.forced_tool, {"reason": "r", "query": "Bea"}))
    return done("In Rome.", "f1")


def test_one_by_one_the_model_is_told_each_layer_then_free(  # [X002] [X003]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, follows, hindsight_api_reflect_sequential_search=True)
    rig.remember(ROME)

    answer = rig.answer(WHERE)

    assert [call.forced_tool for call in rig.model.calls] == ["search_observations", "recall", None]
    assert answer["text"] == "In Rome."


@pytest.mark.parametrize(("budget", "next_one"), [(Budget.MID, None), (Budget.HIGH, "search_observations")])
def test_pages_that_release_the_order_say_so_to_the_model(
    database: Database, store: PostgresStore, tenant: TenantId, budget: Budget, next_one: str | None
) -> None:
    """Cases [X004] [X005]."""
    rig = make_rig(database, store, tenant, follows, hindsight_api_reflect_sequential_search=True)
    rig.remember(ROME)
    put_page(rig, "bea", "Bea lives in Rome.", about="Bea")

    rig.ask(replace(WHERE, budget=budget))

    forced = [call.forced_tool for call in rig.model.calls]
    told = [result.document for turn in rig.model.calls[1].history for result in turn.results]
    assert forced[:2] == ["search_mental_models", next_one]
    assert [document.get("guidance") for document in told] == [GUIDANCE if next_one is None else None]


def test_a_forced_layer_is_asked_for_again_with_what_was_wrong_then_the_run_answers(  # [X011]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    def deaf(call: ModelCall) -> Said:
        if call.forced_tool == "recall":
            raise ModelReplyMalformed("it wrote prose")
        return follows(call)

    rig = make_rig(database, store, tenant, deaf, hindsight_api_reflect_sequential_search=True)
    rig.remember(ROME, Unit("Bea lives in Rome now.", "observation"))

    answer = rig.answer(WHERE)

    assert [call.forced_tool for call in rig.model.calls] == ["search_observations", "recall", "recall", "done"]
    assert "did not use `recall`" in json.dumps([turn.closing for turn in rig.model.calls[2].history])
    assert answer["text"] == "In Rome."


def test_a_full_conversation_is_shown_blanked_and_answered_from_all_that_was_found(  # [X014]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(
        database, store, tenant, follows,
        hindsight_api_reflect_sequential_search=True, hindsight_api_reflect_max_context_tokens=3_000,
    )  # fmt: skip
    rig.remember(ROME, Unit("Bea lives in Rome, and " + "likes it well, " * 1_500, "observation"))
    rig.settings = rig.settings.model_copy(update={"bank_defaults": (("recall_max_tokens", "200000"),)})

    answer = rig.answer(ReflectRequest("Where does Bea live?", shows_facts=True, observations_max_tokens=100_000))

    recall, final = rig.model.calls[1], rig.model.calls[-1]
    assert tasks_of(rig)[-1] == "reflect_synthesis"
    assert "likes it well" not in json.dumps([result.document for turn in recall.history for result in turn.results])
    assert "likes it well" in "".join(final.blocks)
    assert answer["citation_status"] == "cited"


def test_a_context_of_one_token_still_answers(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [X015]."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"), hindsight_api_reflect_max_context_tokens=1)
    rig.remember(ROME, THAI)

    assert rig.answer(WHERE)["text"] == "In Rome."
    assert tasks_of(rig) == ["reflect_synthesis"]


def reads(call: ModelCall) -> Said:
    """A model that draws one claim from each entry of a part, and answers from them."""
    if call.task != "reflect_claims":
        return done("In many places.", "f1", "f2", "f3")
    listed = next(block for block in call.blocks if 'kind="evidence"' in block)
    entries = json.loads(listed.splitlines()[1])
    claims: list[JsonValue] = [{"text": f"Claim of {entry['text'][:12]}", "ids": [entry["id"]]} for entry in entries]
    return Said((("reflect_claims", {"claims": claims}),))


def scattered(rig: Rig) -> None:
    """Three facts of which two do not fit one call."""
    rig.remember(*(Unit(f"Bea note {place} " + "and more " * 400) for place in range(3)))
    rig.settings = rig.settings.model_copy(update={"bank_defaults": (("recall_max_tokens", "200000"),)})


def test_evidence_past_one_call_is_read_in_parts_each_entry_once(  # [X016]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, reads, hindsight_api_reflect_max_context_tokens=1_500)
    scattered(rig)

    answer = rig.answer(WHERE)

    parts, final = rig.model.calls[:-1], rig.model.calls[-1]
    seen = Counter(note for call in parts for note in range(3) if f"Bea note {note}" in "".join(call.blocks))
    assert [call.temperature for call in parts] == [0.0] * 3
    assert seen == {0: 1, 1: 1, 2: 1}
    assert final.task == "reflect_synthesis"
    assert all(f"Claim of Bea note {note}" in "".join(final.blocks) for note in range(3))
    assert "Bea note 0 and more" not in "".join(final.blocks)
    assert answer["citations_dropped"] == 0
    assert rig.workflows.largest_payload < 2_048


def test_a_part_that_fails_is_asked_again_alone_and_the_others_are_not_paid_twice(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    failures = [ModelThrottled("slow down")] * 6

    def slow(call: ModelCall) -> Said:
        if "Bea note 1" in "".join(call.blocks) and call.task == "reflect_claims" and failures:
            raise failures.pop()
        return reads(call)

    rig = make_rig(database, store, tenant, slow, hindsight_api_reflect_max_context_tokens=1_500)
    scattered(rig)

    answer = rig.answer(WHERE)

    read = Counter(note for call in rig.model.calls[:-1] for note in range(3) if f"Bea note {note}" in str(call.blocks))
    assert answer["text"] == "In many places."
    assert read == {0: 1, 1: 7, 2: 1}


def test_a_long_answer_is_rewritten_once(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [X018]."""
    short = Said((("reflect_rewrite", {"answer": "In Rome."}),))
    rig = make_rig(database, store, tenant, done("In Rome, " * 300, "f1"), short)
    rig.remember(ROME)

    answer = rig.answer(ReflectRequest("Where does Bea live?", max_tokens=200))

    assert (answer["text"], tasks_of(rig)) == ("In Rome.", ["reflect_turn", "reflect_rewrite"])
    assert answer["citation_status"] == "cited"


def test_a_rewrite_that_fails_leaves_the_answer_as_it_was(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X018]: nor does a rewrite that breaks cost the answer."""
    rig = make_rig(database, store, tenant, done("In Rome, " * 300, "f1"), ModelInputTooLong("too long"))
    rig.remember(ROME)

    answer = rig.answer(ReflectRequest("Where does Bea live?", max_tokens=200))

    assert str(answer["text"]).startswith("In Rome, In Rome")


def test_an_empty_synthesis_fails_the_run_and_nothing_is_stored(  # [X017]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done(""), hindsight_api_reflect_max_context_tokens=1)
    rig.remember(ROME)

    run = rig.ask(WHERE)

    assert (run.status, run.answer) == ("failed", None)


def test_a_search_that_raises_fails_the_run_and_a_wrong_call_is_told_to_the_model(  # [X019]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    wrong = uses(("recall", {"reason": "r", "query": ""}))
    rig = make_rig(database, store, tenant, wrong, done("In Rome.", "f1"))
    rig.remember(ROME)

    rig.answer(WHERE)
    told = rig.model.calls[1].history[-1].results[0]
    rig.embedder.failures += [ModelReplyMalformed("not finite")] * 9
    run = rig.ask(ReflectRequest("Who speaks Thai?"))

    assert (told.failed, "query" in str(told.document["error"])) == (True, True)
    assert (run.status, run.error, run.answer) == ("failed", "ModelReplyMalformed", None)


def test_a_cancelled_run_makes_no_more_calls_and_stays_cancelled(  # [X026]
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, AGAIN, AGAIN, done("In Rome.", "f1"))
    rig.remember(ROME)
    step, decisions = rig.workflows.step, [0]

    def cancelled_midway(event: JsonObject) -> JsonObject:
        decisions[0] += event["step"] == "plan"
        if decisions[0] == 4 and event["step"] == "call_model":
            with store.transaction(tenant) as tx:
                assert tx.reflect.cancel(rig.bank_id, RunId(rig.workflows.started[-1]))
        return step(event)

    rig.workflows.step = cancelled_midway

    run = rig.ask(WHERE)

    assert (run.status, run.answer) == ("cancelled", None)
    assert len(rig.model.calls) == 1
    with store.transaction(tenant) as tx:
        assert not tx.reflect.cancel(rig.bank_id, run.run_id)


def test_two_questions_at_once_are_two_runs(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [X028]."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.workflows.runs = False

    made = [runs.submit(rig.door, rig.principal, "bank", ReflectRequest(f"Question {n}?")) for n in range(2)]

    assert len({run.run_id for run in made}) == 2


def started(rig: Rig, *steps: str) -> JsonObject:
    """A run that was taken so far; the payload its workflow holds."""
    rig.workflows.runs = False
    run = runs.submit(rig.door, rig.principal, "bank", WHERE)
    payload: JsonObject = {
        "tenant_id": str(rig.tenant), "bank_id": str(rig.bank_id), "run_id": str(run.run_id), "turn": 0,
    }  # fmt: skip
    for step in steps:
        if step == "run_tools":
            calls = payload["calls"]
            assert isinstance(calls, list)
            for call in calls:
                rig.step({"step": "run_tool", "run": payload, "call": call})
        else:
            answer = rig.step({"step": step, "run": payload})
            payload = answer if step in ("prepare", "plan") else payload
    return payload


def test_a_call_that_is_delivered_twice_is_made_once(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X081]."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"), done("Elsewhere."))
    rig.remember(ROME)
    payload = started(rig, "prepare", "plan", "run_tools", "plan")

    for _ in range(2):
        rig.step({"step": "call_model", "run": payload})
    decided = rig.step({"step": "plan", "run": payload})
    rig.step({"step": "finish", "run": decided})

    assert len(rig.model.calls) == 1
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT answer ->> 'text' FROM hindsight.reflect_runs WHERE tenant_id = %s", (tenant,)
        ).fetchall()
    assert rows == [("In Rome.",)]


def test_a_decision_that_is_delivered_twice_is_taken_once(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X082]."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    payload = started(rig, "prepare")

    first, second = (rig.step({"step": "plan", "run": payload}) for _ in range(2))

    assert first == second
    assert (first["action"], first["turn"]) == ("run_tools", 1)


def test_a_run_that_the_guard_stopped_says_so(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """Case [X085]."""
    rig = make_rig(database, store, tenant, AGAIN)
    rig.remember(ROME)
    payload = started(rig, "prepare", "plan")
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.reflect_runs SET turn = 121 WHERE tenant_id = %s", (tenant,))

    rig.step({"step": "fail", "run": {**payload, "turn": 121}})

    run = rig.find(RunId(rig.workflows.started[-1]))
    assert (run.status, run.error) == ("failed", "ReflectRunaway")


def test_a_budget_of_one_turn_closes_after_the_first_round(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X001]: half of one turn is one turn."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"), hindsight_api_reflect_max_iterations=1)
    rig.remember(ROME)

    assert rig.answer(WHERE)["text"] == "In Rome."
    assert tasks_of(rig) == ["reflect_closing"]


def test_what_ended_a_week_ago_is_removed_by_the_sweep_with_what_it_read(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done(""))
    rig.remember(ROME)
    rig.ask(WHERE)
    with psycopg.connect(database.admin_url) as admin:
        kept = admin.execute("SELECT count(*) FROM hindsight.reflect_steps WHERE tenant_id = %s", (tenant,)).fetchone()
        admin.execute(
            "UPDATE hindsight.reflect_runs SET ended_at = now() - interval '8 days' WHERE tenant_id = %s", (tenant,)
        )

    due = [
        work.bank_id
        for work in store.due_work(100, DueBy(observations=True, auto_consolidation=True))
        if (work.kind, work.tenant_id) == ("ended_runs", tenant)
    ]
    with store.transaction(tenant) as tx:
        removed = [tx.reflect.purge(rig.bank_id, 7 * 86_400) for _ in range(2)]

    assert kept is not None
    assert kept[0] > 0
    assert due == [rig.bank_id]
    assert removed == [1, 0]
    with psycopg.connect(database.admin_url) as admin:
        left = admin.execute("SELECT count(*) FROM hindsight.reflect_steps WHERE tenant_id = %s", (tenant,)).fetchone()
    assert left == (0,)


@pytest.mark.parametrize(("seconds", "tasks"), [(60.0, ["reflect_turn"]), (300.0, ["reflect_turn", "reflect_rewrite"])])
def test_nothing_that_only_follows_an_answer_is_begun_when_time_is_short(
    database: Database, store: PostgresStore, tenant: TenantId, seconds: float, tasks: list[str]
) -> None:
    long, short = done("In Rome, " * 300, "f1"), Said((("reflect_rewrite", {"answer": "In Rome."}),))
    rig = make_rig(database, store, tenant, long, short, hindsight_api_reflect_wall_timeout=seconds)
    rig.remember(ROME)

    rig.answer(ReflectRequest("Where does Bea live?", max_tokens=200))

    assert tasks_of(rig) == tasks


def test_an_answer_that_came_late_stands(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    def slowly(_call: ModelCall) -> Said:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute(
                "UPDATE hindsight.reflect_runs SET deadline_at = now() + interval '20 s' WHERE tenant_id = %s",
                (tenant,),
            )
        return done("In Rome.", "f1")

    rig = make_rig(database, store, tenant, slowly)
    rig.remember(ROME)

    assert rig.answer(WHERE)["text"] == "In Rome."


def test_a_run_that_was_cancelled_before_its_end_gets_no_answer(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    payload = started(rig, "prepare", "plan", "run_tools", "plan", "call_model", "plan")
    ended = RunId(rig.workflows.started[-1])
    with store.transaction(tenant) as tx:
        assert tx.reflect.cancel(rig.bank_id, ended)

    rig.step({"step": "finish", "run": payload})

    assert (rig.find(ended).status, rig.find(ended).answer) == ("cancelled", None)


def test_a_call_that_is_delivered_twice_at_once_is_made_once(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X081]: the second process waits for the first one's reply."""
    asked, may_answer = threading.Event(), threading.Event()

    def slowly(_call: ModelCall) -> Said:
        asked.set()
        assert may_answer.wait(60)
        return done("In Rome.", "f1")

    rig = make_rig(database, store, tenant, slowly)
    rig.remember(ROME)
    payload = started(rig, "prepare", "plan", "run_tools", "plan")
    event: JsonObject = {"step": "call_model", "run": payload}
    other = PostgresStore(lambda: database.write_url)
    first = threading.Thread(target=rig.step, args=(event,))
    second = threading.Thread(target=replace(rig, store=other).step, args=(event,))

    first.start()
    assert asked.wait(60)
    second.start()
    second.join(0.3)
    is_waiting = second.is_alive()
    may_answer.set()
    first.join(60)
    second.join(60)
    other.close()

    assert is_waiting
    assert len(rig.model.calls) == 1


def test_the_conversation_only_grows(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = make_rig(database, store, tenant, AGAIN, AGAIN, done("In Rome.", "f1"))
    rig.remember(ROME)

    rig.answer(WHERE)

    for before, after in itertools.pairwise(rig.model.calls):
        assert (after.system, after.blocks, after.tools) == (before.system, before.blocks, before.tools)
        grown = after.history[: len(before.history)]
        assert [replace(turn, closing=()) for turn in grown] == [replace(turn, closing=()) for turn in before.history]
        assert all(turn.closing == () for turn in after.history[:-1])


def test_of_several_tools_the_one_that_failed_is_run_again_and_their_order_stays(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """Case [X083]."""

    def asks(_call: ModelCall) -> Said:
        rig.embedder.failures += [ModelThrottled("slow down")]
        return uses(
            ("search_observations", {"reason": "r", "query": "Bea"}), ("recall", {"reason": "r", "query": "Bea"})
        )

    rig = make_rig(database, store, tenant, asks, done("In Rome.", "f1"))
    rig.remember(ROME, Unit("Bea lives in Rome now.", "observation"))

    rig.answer(WHERE)

    turn = rig.model.calls[1].history[-1]
    assert [use.name for use in turn.uses] == ["search_observations", "recall"]
    assert [result.failed for result in turn.results] == [False, False]


def test_the_question_is_embedded_once_for_all_layers_and_whenever_it_is_asked_again(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    again = uses(("recall", {"reason": "r", "query": f" {WHERE.query} "}), ("recall", {"reason": "r", "query": "Rome"}))
    rig = make_rig(database, store, tenant, again, done("In Rome.", "f1"))
    rig.remember(ROME, Unit("Bea lives in Rome now.", "observation"))
    put_page(rig, "home", "Bea lives in Rome.")
    rig.embedder.texts.clear()

    run = rig.ask(WHERE)

    first = rig.model.calls[0].history[0]
    assert [use.name for use in first.uses] == ["search_mental_models", "search_observations", "recall"]
    assert ["Bea" in json.dumps(result.document) for result in first.results] == [True, True, True]
    assert rig.embedder.texts == [WHERE.query, "Rome"]
    assert (run.status, rig.find(run.run_id).state) == ("completed", {})


def test_a_prepared_run_that_is_prepared_again_embeds_nothing_more(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME)
    rig.embedder.texts.clear()
    step = rig.workflows.step
    rig.workflows.step = lambda event: [step(event) for _ in range(2 if event["step"] == "prepare" else 1)][-1]

    rig.answer(WHERE)

    assert rig.embedder.texts == [WHERE.query]


def test_a_vector_of_another_model_is_not_used(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    """The embedding model may change between two steps of a run."""
    rig = make_rig(database, store, tenant, done("In Rome.", "f1"))
    rig.remember(ROME, Unit("Bea lives in Rome now.", "observation"))
    rig.embedder.texts.clear()
    step = rig.workflows.step

    def changing(event: JsonObject) -> JsonObject:
        told = step(event)
        if event["step"] == "prepare":
            with psycopg.connect(database.admin_url) as admin:
                admin.execute(
                    """UPDATE hindsight.reflect_runs SET state = jsonb_set(state, '{question,model}', '"another"')"""
                )
        return told

    rig.workflows.step = changing

    rig.answer(WHERE)

    assert rig.embedder.texts == [WHERE.query] * 3
