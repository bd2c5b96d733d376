"""Recall over several banks: each searched under the caller's sight of it, all ranked in one list."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from hindsight_aws.errors import AccessDenied, InvalidField, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.recall import RecallQuery
from hindsight_aws.recall.together import AnswerTogether
from tests.support.admin import changing
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database, make_tenant
from tests.support.recalling import EAST, NORTH, Asking
from tests.support.units import Unit, insert_units, make_bank

_PATH = "/v1/default/recall"


def _fill(database: Database, tenant: TenantId, bank: str, *units: Unit) -> None:
    insert_units(database.admin_url, tenant, make_bank(database.admin_url, tenant, bank), units)


def _ask(asking: Asking, query: RecallQuery | str, *banks: str, **settings: Any) -> AnswerTogether:
    return asking.ask_all(query, banks, **settings)


def _found(answer: AnswerTogether) -> list[tuple[str, str]]:
    return [(answer.bank_of[result.unit.id], result.unit.text) for result in answer.results]


def test_the_best_of_all_banks_come_first_and_each_names_its_bank(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    _fill(database, tenant, "home", Unit("The kettle is in the kitchen", vector=NORTH), Unit("The tram was late"))
    _fill(database, tenant, "work", Unit("A kettle was ordered", vector=EAST), Unit("The meeting is at noon"))

    answer = _ask(asking, "where is the kettle in the kitchen?", "work", "home")

    assert _found(answer) == [("home", "The kettle is in the kitchen"), ("work", "A kettle was ordered")]
    assert asking.embedder.asked == ["where is the kettle in the kitchen?"]


def test_a_strong_hit_of_a_small_bank_is_not_buried_under_weak_hits_of_a_big_one(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    """In the small bank every memory is about kettles, so there the word means nothing; in the big one it is rare."""
    kettles = [Unit(f"The kettle of room {number} is fine") for number in range(2)]
    _fill(database, tenant, "small", Unit("The copper kettle whistles at noon", vector=NORTH), *kettles)
    big = [Unit(f"The committee met about item {number}") for number in range(40)]
    weak = [Unit(f"Somebody mentioned a kettle in passing, among many other things, on page {n}") for n in range(3)]
    _fill(database, tenant, "big", *big, *weak)

    answer = _ask(asking, "when does the copper kettle whistle?", "big", "small")

    assert _found(answer)[0] == ("small", "The copper kettle whistles at noon")
    scores = {result.unit.text: result.scores.keyword or 0.0 for result in answer.results}
    assert scores["The kettle of room 0 is fine"] > scores[weak[0].text]


def test_a_bank_that_knows_nothing_of_it_puts_its_best_below_what_answers(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    """Its best is the best of its own bank only: scores relative to each bank's best would make it the equal."""
    _fill(database, tenant, "knows", *(Unit(f"The kettle whistles at {hour}", vector=NORTH) for hour in range(5)))
    _fill(database, tenant, "guesses", Unit("It whistles sometimes", vector=(0.4, 0.9, 0.0)))

    answer = _ask(asking, "when does the kettle whistle?", "guesses", "knows")

    assert [bank for bank, _ in _found(answer)] == ["knows"] * 5 + ["guesses"]


def test_words_count_for_nothing_in_a_bank_that_is_not_searched_by_them(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    _fill(database, tenant, "mute", Unit("The kettle whistles", vector=NORTH))
    _fill(database, tenant, "worded", Unit("The kettle hums", vector=NORTH))
    with changing(database.admin_url) as admin:
        admin.execute(
            """UPDATE hindsight.banks SET config = '{"enable_text_search": false}' WHERE external_id = 'mute'"""
        )

    alone = _ask(asking, "kettle", "mute")
    both = _ask(asking, "kettle", "mute", "worded")

    assert [result.scores.keyword for result in alone.results] == [None]
    scored = {both.bank_of[result.unit.id]: result.scores.keyword for result in both.results}
    assert scored["mute"] is None
    assert scored["worded"] is not None


def test_a_name_with_half_a_character_is_refused_and_never_taken_for_another(call: Caller) -> None:
    assert call("PUT", "/v1/default/banks/caph", {}).status in (200, 201)

    answer = call("POST", _PATH, {"query": "tea \ud800", "banks": ["caph", "caph\ud800"]})

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "banks", 1]
    assert call("POST", _PATH, {"query": "tea \ud800", "banks": ["caph"]}).status == 200


def test_one_budget_holds_for_all_banks(database: Database, tenant: TenantId, asking: Asking) -> None:
    _fill(database, tenant, "home", Unit("kettle at home", vector=NORTH))
    _fill(database, tenant, "work", Unit("kettle at work", vector=NORTH))

    assert len(_ask(asking, RecallQuery("kettle", max_tokens=4), "home", "work").results) == 1
    assert len(_ask(asking, RecallQuery("kettle", max_tokens=40), "home", "work").results) == 2


def test_a_bank_of_another_embedding_model_is_searched_by_words(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    _fill(database, tenant, "home", Unit("kettle at home", vector=NORTH))
    _fill(database, tenant, "old", Unit("kettle of old", vector=NORTH))
    with changing(database.admin_url) as connection:
        connection.execute("UPDATE banks SET embedding_model = 'another' WHERE external_id = 'old'")

    answer = _ask(asking, RecallQuery("kettle", with_trace=True), "home", "old")

    semantic = {answer.bank_of[result.unit.id]: result.scores.semantic for result in answer.results}
    assert semantic["old"] is None
    assert semantic["home"] == pytest.approx(1.0)
    trace: Any = answer.by_bank["old"].trace
    assert trace["summary"]["degraded"] == ["semantic"]
    assert len(asking.embedder.asked) == 1


def test_a_bank_that_is_not_there_and_one_out_of_sight_are_refused_alike_and_by_name(
    database: Database, tenant: TenantId, asking: Asking
) -> None:
    _fill(database, tenant, "home", Unit("kettle", vector=NORTH))
    _fill(database, tenant, "secret", Unit("kettle", vector=NORTH))
    _fill(database, make_tenant(database, "other"), "foreign", Unit("kettle", vector=NORTH))
    limited = asking.limited(bank_patterns=("home", "gone"))

    for missing in ("secret", "foreign", "gone"):
        with pytest.raises(NotFound, match=rf"^Bank '{missing}' not found$"):
            _ask(limited, "kettle", "home", missing)
    with pytest.raises(NotFound, match=r"^Banks 'secret', 'gone' not found$"):
        _ask(limited, "kettle", "secret", "home", "gone")
    assert asking.embedder.asked == []
    assert _found(_ask(limited, "kettle", "home", "home")) == [("home", "kettle")]


def test_a_key_sees_in_each_bank_what_it_may_see_there(database: Database, tenant: TenantId, asking: Asking) -> None:
    for bank in ("home", "work"):
        own, other = Unit(f"kettle of mine at {bank}", tags=("own",)), Unit(f"kettle of theirs at {bank}", tags=("t",))
        above = Unit(f"a kettle believed at {bank}", "observation", tags=("own",), sources=(other.id,))
        _fill(database, tenant, bank, own, other, above)
    mine = asking.limited(forced_tags=TagLeaf(frozenset({"own"})))

    answer = _ask(mine, RecallQuery("kettle", source_tokens=100), "home", "work")

    assert all("theirs" not in text for _, text in _found(answer))
    assert len(answer.results) == 4
    assert [share.withheld for share in answer.by_bank.values()] == [1, 1]
    with pytest.raises(AccessDenied):
        _ask(asking.limited(permissions=frozenset()), "kettle", "home")


def test_banks_are_named_once_each_and_within_the_bound(database: Database, tenant: TenantId, asking: Asking) -> None:
    _fill(database, tenant, "home", Unit("kettle", vector=NORTH))

    with pytest.raises(InvalidField, match="banks must name from 1 to 2 banks"):
        _ask(asking, "kettle", "a", "b", "c", hindsight_recall_most_banks=2)
    with pytest.raises(InvalidField, match="banks must name"):
        _ask(asking, "kettle")
    with pytest.raises(NotFound, match="switched off"):
        _ask(asking, "kettle", "home", hindsight_recall_most_banks=0)


def test_a_deadline_holds_for_all_banks_together(database: Database, tenant: TenantId, asking: Asking) -> None:
    _fill(database, tenant, "home", Unit("kettle", vector=NORTH))
    _fill(database, tenant, "work", Unit("kettle at work", vector=NORTH))

    with psycopg.connect(database.admin_url) as other:
        other.execute("LOCK TABLE hindsight.unit_terms IN ACCESS EXCLUSIVE MODE")
        answer = _ask(asking, RecallQuery("kettle", deadline_ms=1_500), "home", "work")
        if not _found(answer):  # a machine that stalls is given more time
            answer = _ask(asking, RecallQuery("kettle", deadline_ms=18_000), "home", "work")
        other.rollback()

    assert "keyword" in (answer.cut or ())
    assert "home" in {bank for bank, _ in _found(answer)}


def test_what_lies_beneath_comes_from_each_bank(call: Caller) -> None:
    for bank in ("home", "work"):
        item = {"content": f"The kettle is at {bank}.", "entities": [{"text": "Kettle"}], "document_id": "letter"}
        assert call("POST", f"/v1/default/banks/{bank}/memories", {"items": [item]}).status == 200
    include: dict[str, object] = {"entities": {}, "chunks": {}, "source_facts": {}, "evidence": {}}

    answer = call(
        "POST", _PATH, {"query": "kettle", "banks": ["home", "work"], "include": include, "trace": True}
    ).json()  # fmt: skip

    assert {result["bank_id"]: result["text"] for result in answer["results"]} == {
        "home": "The kettle is at home.",
        "work": "The kettle is at work.",
    }
    assert {chunk["text"] for chunk in answer["chunks"].values()} == {
        "The kettle is at home.",
        "The kettle is at work.",
    }
    assert answer["entities"].keys() == answer["trace"].keys() == {"home", "work"}
    assert answer["entities"]["home"]["Kettle"]["entity_id"] != answer["entities"]["work"]["Kettle"]["entity_id"]
    assert answer["source_facts"] == {}


def test_the_route_refuses_what_means_one_bank_or_none(call: Caller, services: FakeRuntime) -> None:
    for asked, said in (
        ({}, "banks"),
        ({"banks": []}, "banks"),
        ({"banks": ["home"], "after": "x"}, "'after' names a write of one bank"),
        ({"banks": ["home"], "query": "?!"}, "query"),
    ):
        refused = call("POST", _PATH, {"query": "kettle", **asked})

        assert refused.status == 422
        assert said in refused.body.decode()
    assert call("POST", _PATH, {"query": "kettle", "banks": ["none"]}).json() == {"detail": "Bank 'none' not found"}
    off = make_services(services.store, services.settings.hindsight_dev_tenant, hindsight_recall_most_banks=0)
    assert make_caller(off)("POST", _PATH, {"query": "kettle", "banks": ["home"]}).status == 404


def test_an_empty_bank_brings_nothing(database: Database, tenant: TenantId, asking: Asking) -> None:
    make_bank(database.admin_url, tenant, "empty")
    _fill(database, tenant, "home", Unit("kettle", vector=NORTH))

    assert _found(_ask(asking, "kettle", "empty", "home")) == [("home", "kettle")]
    assert _ask(asking, "kettle", "empty").results == ()
    assert replace(_ask(asking, RecallQuery("kettle", deadline_ms=5_000), "empty"), results=()).cut == ()
