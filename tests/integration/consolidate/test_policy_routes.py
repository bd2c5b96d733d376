"""Strategies through the API: previewed, stored as they came, warned about; scopes and what wrote observations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates
from tests.support.golden import schema_errors

BANK = "/v1/default/banks/bank"
SCOPES = f"{BANK}/observations/scopes"
PREVIEW = f"{BANK}/consolidation-strategies/preview"
ROUTE = "/v1/default/banks/{bank_id}"
TRENDS = {"scopes": [{"tags": ["company:*"]}], "observations_mission": "TRENDS"}


@pytest.fixture
def firm(workshop: Workshop) -> Workshop:
    """Dana's scope holds two observations, the company's one, a team's none yet; a mission for companies."""
    workshop.configure(consolidation_strategies=[TRENDS])
    workshop.remember("The team meets on Mondays.", tags=["team:exec"])
    (fact,) = workshop.remember("Dana signed.", scopes=[["user:dana"], ["company:acme"]])
    workshop.answers(
        creates(("Dana signs leases.", [fact]), ("Dana has a pen.", [fact])), creates(("Firms sign.", [fact]))
    )
    workshop.drain("user:dana")
    workshop.drain("company:acme")
    return workshop


def test_a_preview_counts_the_scopes_that_hold_observations_and_saves_nothing(firm: Workshop, call: Caller) -> None:
    asked = {"strategies": [{}, {"scopes": [{"tags": ["user:*"]}], "max_observations_per_scope": 3}], "extra": 1}

    answer = call("POST", PREVIEW, asked)

    shown = answer.json()
    assert answer.status == 200
    assert schema_errors("POST", f"{ROUTE}/consolidation-strategies/preview", 200, shown) == []
    assert shown["strategies"][0] == {"active": False, "claimed_count": 0, "rules": []}
    assert shown["strategies"][1]["rules"][0]["samples"] == [{"tags": ["user:dana"], "count": 2, "handled_by": 1}]
    assert shown["default"]["samples"] == [{"tags": ["company:acme"], "count": 1, "handled_by": None}]
    assert (shown["scopes_scanned"], shown["complete"]) == (2, True)
    assert call("GET", f"{BANK}/config").json()["overrides"] == {"consolidation_strategies": [TRENDS]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"strategies": [], "sample_limit": 51}, ["body", "sample_limit"], id="C098"),
        pytest.param(
            {"strategies": [{"scopes": [{"tags": ["a"], "tags_match": "any"}]}]},
            ["body", "strategies", 0, "scopes", 0, "tags_match"],
            id="C093",
        ),
        ({"strategies": {}}, ["body", "strategies"]),
        ({}, ["body", "strategies"]),
    ],
)
def test_a_wrong_preview_is_refused_by_field(firm: Workshop, call: Caller, body: object, field: list[object]) -> None:
    answer = call("POST", PREVIEW, body)

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == field


def test_more_scopes_than_a_preview_reads_are_told(
    firm: Workshop, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[C097] with a bound of 1 in place of 10,000."""
    monkeypatch.setattr("hindsight_aws.consolidate.preview.MOST_SCOPES", 1)

    shown = call("POST", PREVIEW, {"strategies": []}).json()

    assert (shown["scopes_scanned"], shown["complete"]) == (1, False)


def test_a_preview_and_the_scopes_show_a_limited_key_its_own_alone(
    firm: Workshop, call: Caller, limited: Callable[..., Caller]
) -> None:
    company = limited(exact_scopes=(frozenset({"company:acme"}),))

    previewed = company("POST", PREVIEW, {"strategies": []})
    listed = company("GET", f"{SCOPES}?include_pending=true")

    assert previewed.json()["default"]["samples"] == [{"tags": ["company:acme"], "count": 1, "handled_by": None}]
    assert [scope["tags"] for scope in listed.json()["scopes"]] == [["company:acme"]]
    assert listed.json()["total"] == 1


def test_scopes_name_the_strategy_that_owns_them_and_their_open_work(firm: Workshop, call: Caller) -> None:
    shown = call("GET", SCOPES).json()

    assert schema_errors("GET", f"{ROUTE}/observations/scopes", 200, shown) == []
    assert shown["total"] == 2
    named = [
        (scope["tags"], scope["count"], scope["strategy_index"], scope["strategy_name"]) for scope in shown["scopes"]
    ]
    assert named == [(["user:dana"], 2, None, "default"), (["company:acme"], 1, 0, "strategy 1: company:*")]
    assert {(scope["pending_count"], scope["failed_count"]) for scope in shown["scopes"]} == {(0, 0)}


def test_scopes_without_observations_come_when_asked_for(firm: Workshop, call: Caller) -> None:
    firm.remember("Dana sings.", tags=["user:dana"])
    (failing,) = firm.remember("Broken.", scopes=[["company:acme"]])
    firm.sql("UPDATE consolidation_work SET state = 'failed', failed_at = now() WHERE fact_id = %s", failing)

    shown = call("GET", f"{SCOPES}?include_pending=true").json()

    counted = {tuple(s["tags"]): (s["count"], s["pending_count"], s["failed_count"]) for s in shown["scopes"]}
    assert shown["total"] == 3
    assert counted == {("user:dana",): (2, 1, 0), ("company:acme",): (1, 0, 1), ("team:exec",): (0, 1, 0)}


def test_scopes_are_paged_most_observations_first(firm: Workshop, call: Caller) -> None:
    first, second = (call("GET", f"{SCOPES}?limit=1&offset={offset}").json() for offset in (0, 1))

    assert [page["scopes"][0]["tags"] for page in (first, second)] == [["user:dana"], ["company:acme"]]
    assert (first["total"], second["limit"], second["offset"]) == (2, 1, 1)
    assert call("GET", f"{SCOPES}?limit=1001").status == 422


def test_settings_are_given_back_byte_by_byte(call: Caller) -> None:
    written = '[{"scopes":[{"tags_match":null,"tags":["z","a",""]}],"observations_mission":" "},{"scopes":null},{}]'

    call("PATCH", f"{BANK}/config", raw=f'{{"updates":{{"consolidation_strategies":{written}}}}}'.encode())

    body = call("GET", f"{BANK}/config").body.decode()
    assert body.count(f'"consolidation_strategies":{written}') == 2


@pytest.mark.parametrize(
    ("value", "named"),
    [
        pytest.param([{"scope": [{"tags": ["a"]}]}], "consolidation_strategies[0] has unknown key 'scope'", id="C092"),
        pytest.param(
            [{"scopes": [{"tags": ["a"], "tags_match": "any"}]}],
            "consolidation_strategies[0].scopes[0].tags_match",
            id="C093",
        ),
        pytest.param(
            [{"max_observations_per_scope": "5"}],
            "consolidation_strategies[0].max_observations_per_scope must be an integer",
            id="C094",
        ),
        pytest.param([{"max_observations_per_scope": 5.0}], "must be an integer", id="C094-float"),
        pytest.param([{"max_observations_per_scope": True}], "must be an integer", id="C094-bool"),
        pytest.param([{}, {"max_observations_per_scope": -7}], "strategies[1].max_observations_per_scope", id="below"),
        pytest.param(
            [{"consolidation_source_facts_max_tokens": 10**30}],
            "consolidation_strategies[0].consolidation_source_facts_max_tokens must be",
            id="above",
        ),
        pytest.param([{}] * 501, "consolidation_strategies must have at most 500 entries", id="too many"),
    ],
)
def test_wrong_strategies_are_refused_by_entry_and_change_nothing(call: Caller, value: object, named: str) -> None:
    call("PATCH", f"{BANK}/config", {"updates": {"consolidation_strategies": [TRENDS]}})

    answer = call("PATCH", f"{BANK}/config", {"updates": {"consolidation_strategies": value}})

    assert answer.status == 400
    assert named in answer.json()["detail"]
    assert call("GET", f"{BANK}/config").json()["overrides"] == {"consolidation_strategies": [TRENDS]}
    assert call("POST", f"{BANK}/consolidation-strategies/preview", {"strategies": value}).status == 422


def test_a_save_answers_with_warnings(call: Caller) -> None:
    star = [{"scopes": [{"tags": ["*"]}], "observations_mission": "S"}]

    saved = call("PATCH", f"{BANK}/config", {"updates": {"consolidation_strategies": star}}).json()

    assert saved["overrides"] == {"consolidation_strategies": star}
    (warning,) = saved["warnings"]
    assert (warning["field"], warning["code"]) == ("consolidation_strategies[0].scopes[0]", "untagged_not_claimed")
    assert call("DELETE", f"{BANK}/config").json()["warnings"] == []


def test_memories_are_found_by_what_wrote_them(firm: Workshop, call: Caller) -> None:
    written = firm.observations("company:acme")[0]["created_by"]
    asked = {
        "strategy": "0", "policy_hash": written["policy_hash"], "run_id": written["run_id"],
    }  # fmt: skip

    found = {name: _texts(call("GET", f"{BANK}/memories/list?{name}={value}")) for name, value in asked.items()}

    assert set(map(tuple, found.values())) == {("Firms sign.",)}
    assert len(_texts(call("GET", f"{BANK}/memories/list?prompt=consolidate@1&model={written['model_id']}"))) == 3
    assert len(_texts(call("GET", f"{BANK}/memories/list?strategy=default"))) == 2
    assert _texts(call("GET", f"{BANK}/memories/list?run_id={uuid4()}")) == []
    assert call("GET", f"{BANK}/memories/list?run_id=x").status == 400


def test_detail_and_history_tell_what_wrote_each_wording(firm: Workshop, call: Caller) -> None:
    (observation,) = firm.observations("company:acme")
    (fact,) = firm.remember("Firms sign more.", scopes=[["company:acme"]])
    firm.answers(
        {
            "updates": [
                {"observation_id": str(observation["id"]), "text": "Firms sign a lot.", "source_fact_ids": [str(fact)]}
            ]
        }
    )
    firm.drain("company:acme")

    detail = call("GET", f"{BANK}/memories/{observation['id']}").json()
    (change,) = call("GET", f"{BANK}/memories/{observation['id']}/history").json()

    of_the_second, of_the_first = (
        call("GET", f"{BANK}/memories/{observation['id']}/history?run_id={detail[by]['run_id']}").json()
        for by in ("last_by", "created_by")
    )
    assert (of_the_second, of_the_first) == ([change], [])
    assert detail["created_by"]["strategy_name"] == "strategy 1: company:*"
    assert detail["created_by"]["run_id"] != detail["last_by"]["run_id"] == change["provenance"]["run_id"]


def test_a_key_limited_to_observations_is_not_told_what_wrote_them(
    firm: Workshop, limited: Callable[..., Caller]
) -> None:
    company = limited(exact_scopes=(frozenset({"company:acme"}),))
    (observation,) = firm.observations("company:acme")

    detail = company("GET", f"{BANK}/memories/{observation['id']}").json()
    filtered = company("GET", f"{BANK}/memories/list?strategy=0")

    assert (detail["text"], detail["created_by"], detail["last_by"]) == ("Firms sign.", None, None)
    assert filtered.status == 403


def _texts(answer: Any) -> list[str]:
    assert answer.status == 200, answer.body
    return [item["text"] for item in answer.json()["items"]]
