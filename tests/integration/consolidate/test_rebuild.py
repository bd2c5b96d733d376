"""A scope whose mission changes is made anew in its shadow: what is read meanwhile, what is kept, what is gone."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.consolidate.rebuild import rebuild
from hindsight_aws.errors import HindsightError, ModelReplyMalformed
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.settings import Settings
from tests.support.api import Caller
from tests.support.consolidation import Workshop
from tests.support.invariants import broken, stranded
from tests.support.models import ScriptedModel, block
from tests.support.rebuilding import (
    CANARY,
    DETAIL,
    TRENDS,
    drain_shadow,
    drain_woken,
    everything_stored,
    listening,
    operations,
    run_sweep,
    shadows,
    texts,
    worded,
)
from tests.support.sweeping import sweep_once

BANK = "/v1/default/banks/bank"
FACTS = [f"{CANARY} leased {n} clusters." for n in (2, 3, 4)]


@pytest.fixture
def company(workshop: Workshop) -> Workshop:
    """The company's scope holds three detailed observations, and its mission has just been changed."""
    listening(workshop).configure(observations_mission=DETAIL)
    workshop.remember(*FACTS, tags=["company:acme"])
    workshop.drain("company:acme")
    assert texts(workshop, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    run_sweep(workshop)
    workshop.wakeups.scopes.clear()
    workshop.model.calls.clear()
    workshop.configure(observations_mission=TRENDS)
    return workshop


def _sound(workshop: Workshop) -> None:
    with psycopg.connect(workshop.database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        assert broken(rows, [workshop.bank_id]) == []
        assert stranded(rows, [workshop.bank_id]) == []


def test_a_changed_mission_makes_the_scope_anew_and_nothing_of_the_old_is_left(company: Workshop) -> None:
    former = {row["id"] for row in company.observations("company:acme")}

    report = run_sweep(company)
    drain_woken(company)

    assert report.woken["policy"] == 1
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]
    assert former.isdisjoint(row["id"] for row in company.observations("company:acme"))
    stored = everything_stored(company).replace('"quote":"', "")
    assert "Noted: " not in stored
    assert (shadows(company), len(company.model.asked("consolidate"))) == ([], 1)
    _sound(company)


def test_a_rebuild_is_an_operation_with_progress(company: Workshop, call: Caller) -> None:
    company.configure(observations_mission=TRENDS, consolidation_llm_batch_size=1)
    run_sweep(company)
    (operation,) = operations(company)
    shown = call("GET", f"{BANK}/operations/{operation['operation_id']}").json()
    assert (shown["operation_type"], shown["status"]) == ("policy_rebuild", "pending")

    drain_woken(company)

    ended = call("GET", f"{BANK}/operations/{operation['operation_id']}").json()
    assert ended["status"] == "completed"
    assert (ended["progress"]["processed"], ended["progress"]["total"]) == (3, 3)
    assert {"scopes_rebuilt": 1, "memories_processed": 3, "memories_failed": 0, "observations_removed": 3,
            "observations_created": 3}.items() <= ended["result_metadata"].items()  # fmt: skip


def test_until_the_swap_every_reader_sees_the_old_generation(company: Workshop, call: Caller) -> None:
    run_sweep(company)
    company.configure(observations_mission=TRENDS, consolidation_llm_batch_size=1)

    ended = drain_shadow(company, 900.0, 900.0)

    assert ended is Drained.UNFINISHED
    made = company.sql("SELECT text FROM memory_units WHERE fact_type = 'shadow'")
    assert len(made) in {1, 2}
    listed = call("GET", f"{BANK}/memories/list?type=observation").json()
    assert sorted(item["text"] for item in listed["items"]) == [f"Noted: {fact}" for fact in FACTS]
    assert listed["total"] == 3
    recalled = call("POST", f"{BANK}/memories/recall", {"query": "firm leased clusters"}).json()
    assert "A firm" not in str(recalled)
    stats = call("GET", f"{BANK}/stats").json()
    assert (stats["total_observations"], stats["pending_consolidation"]) == (3, 0)
    (scope,) = call("GET", f"{BANK}/observations/scopes?include_pending=true").json()["scopes"]
    assert (scope["count"], scope["pending_count"], scope["is_outdated"], scope["is_rebuilding"]) == (3, 0, True, True)
    assert call("GET", f"{BANK}/tags").json()["items"][0]["count"] == 6
    for row in company.sql("SELECT id FROM memory_units WHERE fact_type = 'shadow'"):
        assert call("GET", f"{BANK}/memories/{row['id']}").status == 404
        assert call("GET", f"{BANK}/memories/{row['id']}/history").status == 404
    run_sweep(company)
    drain_woken(company)
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]


def test_a_fact_that_comes_meanwhile_waits_for_the_new_generation(company: Workshop) -> None:
    run_sweep(company)
    late = company.remember(f"{CANARY} leased 5 clusters.", tags=["company:acme"])

    aside = company.drain("company:acme")

    assert aside is Drained.ASIDE
    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    drain_woken(company)
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4, 5)]
    assert company.work()[late[0]] == [("done", "created")]
    _sound(company)


def test_a_drain_that_meets_an_older_mission_begins_the_rebuild_itself(company: Workshop) -> None:
    company.remember(f"{CANARY} leased 5 clusters.", tags=["company:acme"])

    ended = company.drain("company:acme")

    assert (ended, len(shadows(company))) == (Drained.ASIDE, 1)
    drain_woken(company)
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4, 5)]
    assert not any("Noted" in "".join(asked.blocks) for asked in company.model.asked("consolidate"))


def test_a_fact_that_goes_or_changes_meanwhile_is_not_in_the_new_generation_as_it_was(company: Workshop) -> None:
    run_sweep(company)
    gone, changed = (company.sql("SELECT id FROM memory_units WHERE text = %s", text)[0]["id"] for text in FACTS[:2])
    company.configure(observations_mission=TRENDS, consolidation_llm_batch_size=1)
    drain_shadow(company, 900.0, 900.0)
    with company.store.transaction(company.tenant) as tx:
        tx.observations.sweep(company.bank_id, [gone, changed])
    company.sql("DELETE FROM memory_units WHERE id = %s", gone)
    company.sql("UPDATE bank_counters SET units = units - 1, terms = terms - 4 WHERE fact_type = 'world'")
    company.sql("UPDATE memory_units SET text = %s, version = version + 1 WHERE id = %s", "Beta rents.", changed)

    run_sweep(company)
    drain_woken(company)

    assert texts(company, "company:acme") == ["A firm leased 4 clusters.", "Beta rents."]
    assert shadows(company) == []


def test_a_mission_that_changes_again_begins_the_shadow_anew(company: Workshop) -> None:
    run_sweep(company)
    company.configure(observations_mission=TRENDS, consolidation_llm_batch_size=1)
    drain_shadow(company, 900.0, 900.0)
    company.configure(observations_mission="A third way.")

    run_sweep(company)
    drain_woken(company)

    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    assert "A firm" not in everything_stored(company)
    assert [operation["status"] for operation in operations(company)] == ["completed"]
    _sound(company)


def test_a_mission_that_is_taken_back_leaves_what_was_there(company: Workshop) -> None:
    former = {row["id"] for row in company.observations("company:acme")}
    run_sweep(company)
    company.configure(observations_mission=DETAIL)

    run_sweep(company)
    drain_woken(company)

    assert {row["id"] for row in company.observations("company:acme")} == former
    assert (shadows(company), company.model.asked("consolidate")) == ([], [])
    assert [operation["status"] for operation in operations(company)] == ["completed"]


def test_a_cancelled_rebuild_lets_what_is_there_stand(company: Workshop, call: Caller) -> None:
    run_sweep(company)
    company.sql("UPDATE operations SET status = 'cancelled' WHERE kind = 'policy_rebuild'")

    drain_woken(company)
    run_sweep(company)
    drain_woken(company)

    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    assert shadows(company) == []
    assert call("GET", f"{BANK}/observations/scopes").json()["scopes"][0]["is_outdated"] is False


@pytest.mark.parametrize(
    "change",
    [
        {"max_observations_per_scope": 2},
        {"max_observations_per_scope": 0},
        {"consolidation_source_facts_max_tokens": 17},
        {"consolidation_llm_batch_size": 2},
        {"consolidation_strategies": [{}, {"scopes": [{"tags": ["company:*"]}], "observations_mission": DETAIL}]},
    ],
)
def test_a_change_that_alters_no_wording_rebuilds_nothing(company: Workshop, change: dict[str, object]) -> None:
    company.configure(observations_mission=DETAIL, **change)

    run_sweep(company)

    assert (shadows(company), operations(company)) == ([], [])
    assert "policy" not in run_sweep(company).woken


def test_a_wider_cap_asks_again_about_the_facts_it_kept_out(workshop: Workshop) -> None:
    listening(workshop).configure(max_observations_per_scope=1)
    facts = workshop.remember(*FACTS, tags=["company:acme"])
    workshop.drain("company:acme")
    run_sweep(workshop)
    assert sorted(workshop.work()[fact][0][1] or "" for fact in facts) == ["capped", "capped", "created"]
    workshop.configure(max_observations_per_scope=5)

    run_sweep(workshop)
    run_sweep(workshop)
    drain_woken(workshop)

    assert len(texts(workshop, "company:acme")) == 3
    assert operations(workshop) == []


@pytest.mark.parametrize("how", ["skips", "leaves out"])
def test_a_wider_cap_asks_again_about_what_a_model_left_out_for_want_of_room(workshop: Workshop, how: str) -> None:
    def obedient(call: ModelCall) -> JsonObject:
        facts: Any = block(call, "facts")
        notes = [rendered for rendered in call.blocks if 'kind="capacity"' in rendered]
        if not notes or block(call, "capacity")["remaining"]:
            return worded(call)
        return {"skipped": [{"fact_id": fact["id"], "reason": "no room"} for fact in facts] if how == "skips" else []}

    workshop.model = ScriptedModel(obedient)
    workshop.configure(max_observations_per_scope=1)
    workshop.remember(FACTS[0], tags=["company:acme"])
    workshop.drain("company:acme")
    later = workshop.remember(*FACTS[1:], tags=["company:acme"])
    workshop.drain("company:acme")
    run_sweep(workshop)
    assert [workshop.work()[fact] for fact in later] == [[("done", "capped")]] * 2
    workshop.configure(max_observations_per_scope=5)

    run_sweep(workshop)
    run_sweep(workshop)
    drain_woken(workshop)

    assert len(texts(workshop, "company:acme")) == 3


def test_a_mission_of_the_server_counts_as_much(workshop: Workshop) -> None:
    listening(workshop)
    workshop.remember(FACTS[0], tags=["company:acme"])
    workshop.drain("company:acme")
    run_sweep(workshop)
    told = Settings(hindsight_environment="local", bank_defaults=(("observations_mission", TRENDS),))
    workshop.settings = told

    sweep_once(workshop.store, workshop.wakeups, told)
    drain_woken(workshop)

    assert texts(workshop, "company:acme") == ["A firm leased 2 clusters."]


def test_without_auto_consolidation_nothing_is_rebuilt_by_itself(company: Workshop, call: Caller) -> None:
    company.configure(observations_mission=TRENDS, enable_auto_consolidation=False)

    assert "policy" not in run_sweep(company).woken
    assert shadows(company) == []
    (scope,) = call("GET", f"{BANK}/observations/scopes").json()["scopes"]
    assert (scope["is_outdated"], scope["is_rebuilding"]) == (True, False)


def test_a_failing_fact_is_tried_again_before_the_swap_and_left_out_of_it_at_last(company: Workshop) -> None:
    def fails_for_three(call: ModelCall) -> JsonObject | HindsightError:
        if "leased 3" in "".join(call.blocks):
            return ModelReplyMalformed("no")
        return worded(call)

    company.model = ScriptedModel(fails_for_three)
    run_sweep(company)
    drain_woken(company)
    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    assert len(shadows(company)) == 1

    for _ in range(4):
        company.sql("UPDATE consolidation_work SET failed_at = failed_at - interval '1 day' WHERE state = 'failed'")
        run_sweep(company)
        drain_woken(company)

    assert texts(company, "company:acme") == ["A firm leased 2 clusters.", "A firm leased 4 clusters."]
    (operation,) = operations(company)
    assert (operation["status"], operation["error_message"]) == ("failed", "1 facts could not be consolidated")
    states = [state for work in company.work().values() for state, _ in work]
    assert sorted(states) == ["done", "done", "failed"]


def test_a_model_that_understands_nothing_takes_nothing_away(company: Workshop) -> None:
    """[G3] the former generation stands, and the next attempt waits."""
    company.model = ScriptedModel(lambda _: ModelReplyMalformed("no"))
    run_sweep(company)
    for _ in range(5):
        drain_woken(company)
        company.sql("UPDATE consolidation_work SET failed_at = failed_at - interval '1 day' WHERE state = 'failed'")
        run_sweep(company)

    drain_woken(company)
    listening(company)
    company.remember(f"{CANARY} leased 9 clusters.", tags=["company:acme"])
    waiting = company.drain("company:acme")

    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    assert (shadows(company), operations(company)[0]["status"]) == ([], "failed")
    assert (waiting, company.model.asked("consolidate")) == (Drained.ASIDE, [])
    company.sql("UPDATE scopes SET rebuild_after = now() - interval '1 second'")
    run_sweep(company)
    drain_woken(company)
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4, 9)]


def test_a_worker_that_dies_at_the_swap_leaves_the_old_generation_and_the_sweep_finishes(
    company: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(point: str) -> None:
        if point == "consolidate.before_swap_commit":
            raise KeyboardInterrupt

    run_sweep(company)
    with monkeypatch.context() as patched:
        patched.setattr("hindsight_aws.consolidate.generation.reached", die)
        with pytest.raises(KeyboardInterrupt):
            drain_woken(company)
    assert texts(company, "company:acme") == [f"Noted: {fact}" for fact in FACTS]
    company.sql("UPDATE scopes SET lease_until = '-infinity'")
    company.wakeups.scopes.clear()

    run_sweep(company)
    drain_woken(company)

    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]
    assert len(company.model.asked("consolidate")) == 1
    _sound(company)


def test_an_answer_asked_for_before_the_swap_is_not_written_after_it(company: Workshop) -> None:
    company.configure(observations_mission=DETAIL)
    company.remember(f"{CANARY} leased 7 clusters.", tags=["company:acme"])
    other = Workshop.__new__(Workshop)
    other.__dict__.update(company.__dict__)

    def swaps_meanwhile(call: ModelCall) -> JsonObject:
        if not operations(company):
            listening(other)
            rebuild(other.ports, _admin(company), "bank", None, dry_run=False)
            drain_woken(other)
        return worded(call)

    company.model = ScriptedModel(swaps_meanwhile)
    ended = company.drain("company:acme")

    assert ended is Drained.SUPERSEDED
    assert texts(company, "company:acme") == [f"Noted: {CANARY} leased {n} clusters." for n in (2, 3, 4, 7)]
    _sound(company)


@pytest.mark.parametrize("path", ["/observations", "/memories?type=observation"])
def test_observations_that_are_cleared_do_not_come_back_from_a_rebuild(
    company: Workshop, call: Caller, path: str
) -> None:
    """Promise [G7]."""
    run_sweep(company)
    company.configure(observations_mission=TRENDS, consolidation_llm_batch_size=1)
    drain_shadow(company, 900.0, 900.0)

    cleared = call("DELETE", f"{BANK}{path}")
    company.sql("UPDATE consolidation_work SET state = 'done', outcome = 'not_durable', done_at = now()")
    run_sweep(company)
    drain_woken(company)

    assert cleared.status == 200
    assert (texts(company, "company:acme"), shadows(company)) == ([], [])
    assert [operation["status"] for operation in operations(company)] == ["completed"]
    assert "A firm" not in everything_stored(company)


def test_observations_without_work_of_their_own_are_made_anew_from_what_they_rest_on(workshop: Workshop) -> None:
    """As a transfer brings them: evidence, and no row that says how it came to be."""
    listening(workshop).configure(observations_mission=DETAIL)
    workshop.remember(*FACTS, tags=["company:acme"])
    workshop.drain("company:acme")
    run_sweep(workshop)
    workshop.sql("DELETE FROM consolidation_work")
    workshop.configure(observations_mission=TRENDS)

    run_sweep(workshop)
    drain_woken(workshop)

    assert texts(workshop, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]
    _sound(workshop)


def test_scopes_of_other_missions_are_left_alone(workshop: Workshop) -> None:
    listening(workshop).configure(observations_mission=DETAIL)
    workshop.remember(FACTS[0], scopes=[["company:acme"], ["user:dana"], []])
    for tags in (("company:acme",), ("user:dana",), ()):
        workshop.drain(*tags)
    run_sweep(workshop)
    others = {row["id"] for row in [*workshop.observations("user:dana"), *workshop.observations()]}
    redacting = [{"scopes": [{"tags": ["company:*"]}], "observations_mission": TRENDS}]
    workshop.configure(observations_mission=DETAIL, consolidation_strategies=redacting)

    run_sweep(workshop)
    drain_woken(workshop)

    assert texts(workshop, "company:acme") == ["A firm leased 2 clusters."]
    assert {row["id"] for row in [*workshop.observations("user:dana"), *workshop.observations()]} == others


def test_a_seal_keeps_the_former_generation_where_no_function_reads_it(company: Workshop) -> None:
    company.settings = company.settings.model_copy(update={"hindsight_api_sealed_retention_days": 3})
    run_sweep(company)
    drain_woken(company)

    (sealed,) = company.sql("SELECT content::text, delete_after - now() AS left FROM sealed_generations")
    assert "Noted: " in sealed["content"]
    assert 2 < sealed["left"].total_seconds() / 86_400 <= 3
    for url in (company.database.write_url, company.database.read_url):
        with psycopg.connect(url) as role, pytest.raises(psycopg.errors.InsufficientPrivilege):
            role.execute("SELECT content FROM sealed_generations")
    assert "seal" not in run_sweep(company).woken
    company.sql("UPDATE sealed_generations SET delete_after = now()")
    assert run_sweep(company).woken["seal"] == 1
    assert company.sql("SELECT * FROM sealed_generations") == []


def test_a_fact_that_is_deleted_breaks_the_seals_that_rest_on_it(company: Workshop) -> None:
    """Promise [G7]."""
    company.settings = company.settings.model_copy(update={"hindsight_api_sealed_retention_days": 3})
    run_sweep(company)
    drain_woken(company)
    fact = company.sql("SELECT id FROM memory_units WHERE text = %s", FACTS[0])[0]["id"]

    with company.store.transaction(company.tenant) as tx:
        tx.observations.sweep(company.bank_id, [fact])

    assert company.sql("SELECT * FROM sealed_generations") == []


@pytest.mark.parametrize("cleared", ["observations?scope=company:acme", "observations", "memories?type=observation"])
def test_what_is_cleared_is_in_no_sealed_generation(company: Workshop, call: Caller, cleared: str) -> None:
    """Promise [G7]."""
    company.settings = company.settings.model_copy(update={"hindsight_api_sealed_retention_days": 3})
    run_sweep(company)
    drain_woken(company)

    call("DELETE", f"{BANK}/{cleared}")

    assert company.sql("SELECT * FROM sealed_generations") == []


@pytest.mark.parametrize("cleared", ["observations?scope=company:acme", "observations"])
def test_what_is_cleared_does_not_come_back_from_a_generation_in_the_making(
    company: Workshop, call: Caller, cleared: str
) -> None:
    """Promise [G7]."""
    run_sweep(company)
    assert len(shadows(company)) == 1

    call("DELETE", f"{BANK}/{cleared}")

    assert shadows(company) == []
    assert [row["status"] for row in operations(company)] == ["completed"]
    run_sweep(company)
    drain_woken(company)
    assert texts(company, "company:acme") == [f"A firm leased {n} clusters." for n in (2, 3, 4)]
    _sound(company)


def test_clearing_one_scope_leaves_the_generations_of_others(company: Workshop, call: Caller) -> None:
    company.settings = company.settings.model_copy(update={"hindsight_api_sealed_retention_days": 3})
    run_sweep(company)
    drain_woken(company)
    company.configure(observations_mission=DETAIL)
    run_sweep(company)
    company.remember("Dana runs.", tags=["user:dana"])

    call("DELETE", f"{BANK}/observations?scope=user:dana")

    assert len(shadows(company)) == len(company.sql("SELECT * FROM sealed_generations")) == 1


def _admin(workshop: Workshop) -> Principal:
    return Principal(workshop.tenant, "tester", frozenset(Permission))
