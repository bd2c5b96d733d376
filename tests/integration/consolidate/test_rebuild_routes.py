"""Rebuilds asked for by hand: planned without effect, begun, and refused to whoever may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.model.principal import Permission
from tests.support.api import Caller
from tests.support.consolidation import Workshop
from tests.support.rebuilding import DETAIL, TRENDS, drain_woken, listening, operations, run_sweep, shadows, texts
from tests.support.seed import fingerprint

BANK = "/v1/default/banks/bank"
REBUILD = f"{BANK}/consolidation/rebuild"


@pytest.fixture
def firm(workshop: Workshop) -> Workshop:
    """Two scopes with three and one observations, written in detail; the mission has just been changed for one."""
    listening(workshop).configure(observations_mission=DETAIL)
    workshop.remember(*[f"Acme Robotics leased {n} clusters." for n in (2, 3, 4)], tags=["company:acme"])
    workshop.remember("Dana signed.", tags=["user:dana"])
    workshop.drain("company:acme")
    workshop.drain("user:dana")
    workshop.configure(
        observations_mission=DETAIL,
        max_observations_per_scope=2,
        consolidation_llm_batch_size=2,
        consolidation_strategies=[{"scopes": [{"tags": ["company:*"]}], "observations_mission": TRENDS}],
    )
    workshop.model.calls.clear()
    return workshop


def test_a_dry_run_tells_the_plan_and_writes_and_asks_nothing(firm: Workshop, call: Caller) -> None:
    before = fingerprint(firm.database, firm.tenant)

    answer = call("POST", REBUILD, {"dry_run": True})

    plan = answer.json()
    assert answer.status == 200
    assert (plan["operation_id"], plan["dry_run"], plan["scopes_total"]) == (None, True, 2)
    company, dana = sorted(plan["scopes"], key=lambda scope: scope["tags"])
    assert (company["tags"], company["strategy_name"], company["is_outdated"]) == (
        ["company:acme"],
        "strategy 1: company:*",
        True,
    )
    counted = [company[name] for name in ("facts", "observations", "model_calls", "created", "rewritten", "removed")]
    assert counted == [3, 3, 2, 0, 2, 1]
    assert (dana["is_outdated"], dana["rewritten"], dana["removed"]) == (False, 1, 0)
    assert plan["estimate"]["model_calls"] == 3
    assert plan["estimate"]["usd"] == pytest.approx(0.003)
    assert firm.model.calls == []
    assert fingerprint(firm.database, firm.tenant) == before


def test_a_rebuild_of_one_scope_is_forced_whatever_its_mission(firm: Workshop, call: Caller) -> None:
    former = {row["id"] for row in firm.observations("user:dana")}

    answer = call("POST", REBUILD, {"scopes": [["user:dana"], ["nobody"]]})

    begun = answer.json()
    (operation,) = operations(firm)
    assert (begun["operation_id"], begun["unknown_scopes"]) == (str(operation["operation_id"]), [["nobody"]])
    assert [scope["tags"] for scope in begun["scopes"]] == [["user:dana"]]
    firm.wakeups.scopes += [(firm.tenant, firm.bank_id, shadow["scope_id"]) for shadow in shadows(firm)]
    drain_woken(firm)
    assert former.isdisjoint({row["id"] for row in firm.observations("user:dana")})
    assert texts(firm, "user:dana") == ["Noted: Dana signed."]
    assert operations(firm)[0]["result"]["scopes_rebuilt"] == 1


def test_asking_again_while_it_goes_on_begins_no_second(firm: Workshop, call: Caller) -> None:
    first = call("POST", REBUILD, {}).json()

    again = call("POST", REBUILD).json()

    assert first["operation_id"] is not None
    assert (again["operation_id"], again["scopes"]) == (None, [])
    assert sorted(again["already_rebuilding"]) == [["company:acme"], ["user:dana"]]
    assert len(shadows(firm)) == 2


def test_a_forced_rebuild_goes_on_where_auto_consolidation_is_off(firm: Workshop, call: Caller) -> None:
    firm.configure(observations_mission=TRENDS, enable_auto_consolidation=False)
    call("POST", REBUILD, {"scopes": [["company:acme"]]})

    report = run_sweep(firm)
    ended = drain_woken(firm)

    assert report.woken["consolidation"] == 1
    assert Drained.DONE in ended
    assert texts(firm, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]


def test_a_bank_without_observations_rebuilds_none(firm: Workshop, call: Caller) -> None:
    firm.configure(enable_observations=False)

    assert call("POST", REBUILD, {}).status == 409


@pytest.mark.parametrize("body", [{}, {"dry_run": True}])
@pytest.mark.parametrize("path", [REBUILD, f"{BANK}/consolidation/runs/00000000-0000-0000-0000-000000000001/revert"])
def test_a_key_that_may_not_act_on_the_whole_bank_is_refused(
    firm: Workshop, limited: Callable[..., Caller], path: str, body: dict[str, object]
) -> None:
    writer = limited(permissions=frozenset({Permission.READ, Permission.WRITE}))
    company = limited(exact_scopes=(frozenset({"company:acme"}),))
    tagged = limited(forced_tags={"tags": ["company:acme"], "match": "any_strict"})
    elsewhere = limited(bank_patterns=("other-*",))
    before = fingerprint(firm.database, firm.tenant)

    answers = [caller("POST", path, body).status for caller in (writer, company, tagged, elsewhere)]

    assert answers == [403, 403, 403, 404]
    after = fingerprint(firm.database, firm.tenant)
    assert {name: after[name] for name in after if name != "api_keys"} == {
        name: before[name] for name in before if name != "api_keys"
    }


def test_a_limited_key_sees_no_runs_or_those_of_its_tags_alone(
    firm: Workshop, call: Caller, limited: Callable[..., Caller]
) -> None:
    company = limited(exact_scopes=(frozenset({"company:acme"}),))
    tagged = limited(forced_tags={"tags": ["company:acme"], "match": "any_strict"})

    assert call("GET", f"{BANK}/consolidation/runs").json()["total"] == 2
    assert company("GET", f"{BANK}/consolidation/runs").status == 403
    assert [run["tags"] for run in tagged("GET", f"{BANK}/consolidation/runs").json()["runs"]] == [["company:acme"]]
