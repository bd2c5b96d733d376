"""Answers of whole runs: what they rest on, word for word as it is now, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.reflect.tools import toolbox
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.pages import put_page
from tests.support.reflect import Reply, Rig, Said, done, make_rig, uses
from tests.support.units import Unit

WHERE = ReflectRequest("Where does Bea live?", shows_facts=True, shows_evidence=True)
ROME = Unit("Bea moved to Rome.")
BELIEF = Unit("Bea lives in Rome.", "observation", sources=(ROME.id,))
LONG = "Bea lives in Rome. " * 40

Made = Callable[..., Rig]


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@pytest.fixture
def made(database: Database, store: PostgresStore, tenant: TenantId) -> Made:
    """Makes a rig whose model says these replies."""

    def make(*replies: Reply) -> Rig:
        return make_rig(database, store, tenant, *replies)

    return make


def concluding(answer: str, **said: JsonValue) -> Said:
    return Said((("done", {"answer": answer, "answer_found": True, **said}),))


def based_on(answer: JsonObject, kind: str) -> list[JsonObject]:
    rests = answer["based_on"]
    assert isinstance(rests, dict)
    listed = rests[kind]
    assert isinstance(listed, list)
    return [one for one in listed if isinstance(one, dict)]


def test_a_page_that_was_read_is_given_whole_and_one_that_was_not_as_its_beginning(made: Made) -> None:
    """Case [X036]."""
    read = uses(("read_mental_models", {"reason": "r", "mental_model_ids": ["p2"]}))
    rig = made(read, concluding("In Rome.", mental_model_ids=["p2", "p3"]))
    for name, about in (("first", "Where does Bea live?"), ("second", "Bea live guitar"), ("third", "Bea guitar")):
        put_page(rig, name, LONG, about=about)

    answer = rig.answer(WHERE)

    assert based_on(answer, "mental_models") == [
        {"id": "second", "text": LONG, "context": "Second", "cited": True},
        {"id": "third", "text": LONG[:280], "context": "Third", "cited": True},
    ]
    assert answer["citation_status"] == "cited"


def test_what_nobody_cited_is_listed_and_never_looks_grounded(made: Made) -> None:
    """Case [X029]."""
    rig = made(done("In Rome.", "f9", str(uuid4())))
    rig.remember(ROME, BELIEF)
    put_page(rig, "bea", "Bea lives in Rome.")

    answer = rig.answer(WHERE)

    assert [(one["id"], one["cited"]) for one in based_on(answer, "memories")] == [
        (str(ROME.id), False), (str(BELIEF.id), False),
    ]  # fmt: skip
    assert [(one["id"], one["cited"]) for one in based_on(answer, "mental_models")] == [("bea", False)]
    assert (answer["citation_status"], answer["citations_dropped"]) == ("uncited", 2)


def test_a_memory_that_only_expand_met_can_be_cited(made: Made) -> None:
    """Case [X030]."""
    hidden = Unit("Quantum chromodynamics lecture notes.", document="notes", chunk_index=0)
    opened = uses(("expand", {"reason": "r", "memory_ids": [str(hidden.id)], "depth": "chunk"}))
    rig = made(opened, done("Notes.", "f2"))
    rig.remember(ROME, hidden)

    answer = rig.answer(replace(WHERE, query=f"Where does Bea live, and what is {hidden.id}?"))

    assert (answer["citation_status"], answer["citations_dropped"]) == ("cited", 0)
    assert [one["id"] for one in based_on(answer, "memories") if one["cited"]] == [str(hidden.id)]


def test_aliases_leave_the_answer_and_invented_ids_are_marked(made: Made) -> None:
    """Cases [X031] and [X032]."""
    rig = made(done(f"As f1 says, in Rome [o1], not f99 nor {uuid4()}.", "f1"))
    rig.remember(ROME, BELIEF)

    text = rig.answer(WHERE)["text"]

    assert text == f"As {ROME.id} says, in Rome [{BELIEF.id}], not f99 nor [unverified id]."


def test_a_query_is_searched_as_the_model_wrote_it(made: Made) -> None:
    """Case [X033]."""
    rig = made(uses(("recall", {"reason": "o1", "query": "f1"})), done("In Rome.", "f1"))
    rig.remember(ROME)

    answer = rig.answer(replace(WHERE, shows_tool_calls=True))

    trace = answer["trace"]
    assert isinstance(trace, dict)
    assert isinstance(trace["tool_calls"], list)
    assert trace["tool_calls"][-1] == {
        "tool": "recall", "input": {"reason": "o1", "query": "f1"}, "output": None, "iteration": 2,
        "duration_ms": trace["tool_calls"][-1]["duration_ms"],  # type: ignore[index, call-overload]  # an object it is
    }  # fmt: skip


def test_observations_carry_the_words_they_rest_on(made: Made) -> None:
    rig = made(done("In Rome.", "o1"))
    rig.remember(ROME, BELIEF)

    asked, unasked = rig.answer(WHERE), rig.answer(replace(WHERE, shows_evidence=False))

    (belief,) = (one for one in based_on(asked, "memories") if one["type"] == "observation")
    assert belief["evidence"] == [{"fact_id": str(ROME.id), "quote": "Bea moved to Rome.", "origin": "whole"}]
    assert "evidence" not in json.dumps(unasked)


def test_sentences_are_supported_where_the_model_says_so(made: Made) -> None:
    support: list[JsonValue] = [
        {"sentence": "She lives in Rome.", "ids": ["f1", "f9"]},
        {"sentence": "She likes it.", "ids": ["f1"]},
    ]
    rig = made(concluding("She lives in Rome.", support=support))
    rig.remember(ROME)

    answer = rig.answer(WHERE)

    assert answer["support"] == [{"sentence": "She lives in Rome.", "ids": [str(ROME.id)]}]
    assert (answer["citation_status"], answer["citations_dropped"]) == ("cited", 1)


def test_what_is_gone_when_the_run_ends_is_not_in_the_answer(made: Made, database: Database) -> None:
    def deletes_what_it_cites(_call: ModelCall) -> Said:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("DELETE FROM hindsight.memory_units WHERE id = %s", (gone.id,))
            admin.execute("UPDATE hindsight.memory_units SET text = 'Bea moved to Oslo.' WHERE id = %s", (kept.id,))
        return done("In Rome.", "f1", "f2")

    gone, kept = Unit("Bea moved to Rome."), Unit("Bea moved house.")
    rig = made(deletes_what_it_cites)
    rig.remember(gone, kept)

    answer = rig.answer(replace(WHERE, shows_tool_calls=True, shows_tool_output=True))

    assert [one["text"] for one in based_on(answer, "memories")] == ["Bea moved to Oslo."]
    assert "Bea moved to Rome." not in json.dumps(answer)
    assert (answer["citation_status"], answer["citations_dropped"]) == ("cited", 1)


def test_a_limited_key_is_told_how_many_facts_it_may_not_see(made: Made, tenant: TenantId) -> None:
    rig = made(done("In Rome.", "o1"))
    fact, hidden = Unit("Bea moved to Rome.", tags=("a",)), Unit("Bea is hiding.", tags=("b",))
    rig.remember(fact, hidden, Unit("Bea lives in Rome.", "observation", tags=("a",), sources=(fact.id, hidden.id)))
    limited = Principal(tenant, "key", forced_tags=TagLeaf(frozenset({"a"})))

    answer = rig.answer(WHERE, limited)

    assert answer["withheld"] == 1
    assert "hiding" not in json.dumps(answer)
    assert "withheld" not in rig.answer(WHERE)


def test_usage_and_price_come_from_the_ledger(made: Made, database: Database, tenant: TenantId) -> None:
    def pays_twice(_call: ModelCall) -> Said:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute(
                "INSERT INTO hindsight.usage_ledger (tenant_id, entry_id, bank_id, run_id, task, model_id, status, "
                "input_tokens, usd, latency_ms) SELECT tenant_id, gen_random_uuid(), bank_id, run_id, 'reflect_turn', "
                "'m', 'throttled', 1000, 0.25, 7 FROM hindsight.reflect_runs WHERE tenant_id = %s",
                (tenant,),
            )
        return done("In Rome.", "f1")

    rig = made(pays_twice)
    rig.remember(ROME)

    answer = rig.answer(replace(WHERE, shows_tool_calls=True))

    usage, trace = answer["usage"], answer["trace"]
    assert isinstance(usage, dict)
    assert isinstance(trace, dict)
    assert (usage["input_tokens"], usage["usd"], usage["unpriced_calls"]) == (1_107, 0.25, 1)
    assert isinstance(trace["llm_calls"], list)
    assert [one["scope"] for one in trace["llm_calls"] if isinstance(one, dict)] == ["agent_1_err", "agent_2"]


@pytest.mark.parametrize("odd", ["Bea\0", "Bea\ud800", float("inf")], ids=["nul", "half-an-emoji", "endless"])
def test_what_no_database_holds_does_not_fail_a_run(made: Made, odd: JsonValue) -> None:
    search: JsonObject = {"reason": "r", "query": odd, "max_tokens": odd, odd if isinstance(odd, str) else "more": 1}
    opened: JsonObject = {"reason": "r", "memory_ids": [odd], "depth": "chunk"}
    rig = made(
        uses(("recall", search), ("expand", opened), ("read_mental_models", {"mental_model_ids": [odd]})),
        concluding(f"In Rome. {odd}", memory_ids=["f1", odd], support=[{"sentence": odd, "ids": [odd]}]),
    )
    rig.remember(ROME)

    answer = rig.answer(replace(WHERE, shows_tool_calls=True, shows_tool_output=True))

    assert str(answer["text"]).startswith("In Rome.")
    assert answer["citation_status"] == "cited"


def test_calls_at_once_share_the_room_that_the_conversation_has_left(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case [X024]."""
    rooms: list[tuple[str, int]] = []
    run = toolbox.run

    def noting(context: toolbox.ToolContext, name: str, said: JsonObject, ids: Mapping[str, str]) -> JsonObject:
        rooms.append((name, context.room))
        return run(context, name, said, ids)

    monkeypatch.setattr(toolbox, "run", noting)
    search: JsonObject = {"reason": "r", "query": "Bea", "max_tokens": 999_999}
    rig = made(uses(("recall", search), ("search_observations", search), ("web_search", search)), done("Rome.", "f1"))
    rig.settings = rig.settings.model_copy(update={"hindsight_api_reflect_max_context_tokens": 8_000})
    rig.remember(ROME)

    rig.answer(WHERE)

    first, second = dict(rooms[:2]), dict(rooms[2:])
    assert set(first.values()) == {4_000}
    assert len(set(second.values())) == 1
    assert 3_800 < second["recall"] < 4_000
