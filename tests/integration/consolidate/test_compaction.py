"""Near-duplicates of a scope are looked for once a window: shown, or merged by the same judge as all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.errors import ModelRefused, ModelUnavailable
from hindsight_aws.model.ids import ScopeId
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates
from tests.support.models import Answer, NotedWakeups, ScriptedModel, in_turn
from tests.support.rebuilding import drain_woken, run_sweep

BANK = "/v1/default/banks/bank"
NEAR_TEXTS = ("Ann rows on the lake.", "Ann is rowing there.")


@pytest.fixture
def lake(workshop: Workshop) -> Workshop:
    """A scope that tells of one thing twice, at a cosine of 0.96, and of another."""
    workshop.embedder.fixed = {
        NEAR_TEXTS[0]: [1.0, 0.0, 0.0],
        NEAR_TEXTS[1]: [0.96, 0.28, 0.0],
        "Bob swims.": [0.0, 0.0, 1.0],
    }
    told(workshop, [*NEAR_TEXTS, "Bob swims."])
    return workshop


def told(workshop: Workshop, texts: Sequence[str], *tags: str) -> list[UUID]:
    """Facts of one scope, each observed as it is."""
    facts = workshop.remember(*texts, tags=tags)
    workshop.answers(creates(*((text, [fact]) for text, fact in zip(texts, facts, strict=True))))
    workshop.drain(*tags)
    workshop.wakeups = NotedWakeups()
    workshop.model = ScriptedModel(lambda _: {"action": "merge"})
    return facts


def a_day_later(workshop: Workshop) -> None:
    """The window is over, a sweep comes, and whoever it wakes works."""
    workshop.sql("UPDATE scopes SET unmeasured_since = unmeasured_since - interval '31 hours'")
    run_sweep(workshop)
    drain_woken(workshop)


def judged(workshop: Workshop, *answers: Answer) -> None:
    workshop.model = ScriptedModel(in_turn({"judge_duplicate": answers}))


def suggestions(call: Caller) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("GET", f"{BANK}/consolidation/suggestions").json()["suggestions"]
    return found


def windows(workshop: Workshop) -> list[tuple[int | None, int | None]]:
    return [(row["pairs"], row["merged"]) for row in workshop.sql("SELECT pairs, merged FROM compactions")]


def test_near_duplicates_are_suggested_and_nothing_is_changed(lake: Workshop, call: Caller) -> None:
    before = lake.sql("SELECT * FROM memory_units ORDER BY id")

    a_day_later(lake)

    (found,) = suggestions(call)
    assert (found["tags"], found["similarity"]) == ([], pytest.approx(0.96, abs=0.001))
    assert {one["text"] for one in found["observations"]} == set(NEAR_TEXTS)
    assert lake.sql("SELECT * FROM memory_units ORDER BY id") == before
    assert lake.model.calls == []
    assert windows(lake) == [(1, 0)]


def test_before_the_window_is_over_nobody_looks(lake: Workshop, call: Caller) -> None:
    lake.sql("UPDATE scopes SET unmeasured_since = unmeasured_since - interval '17 hours'")

    run_sweep(lake)

    assert lake.wakeups.scopes == []
    assert suggestions(call) == []


def test_a_scope_is_looked_at_once_in_a_window_however_often_it_is_swept_and_woken(lake: Workshop) -> None:
    lake.sql("UPDATE scopes SET unmeasured_since = unmeasured_since - interval '31 hours'")
    for _ in range(3):
        run_sweep(lake)
    lake.wakeups.scopes *= 2

    drain_woken(lake)
    run_sweep(lake)

    assert lake.wakeups.scopes == []
    assert windows(lake) == [(1, 0)]


def test_scopes_written_to_together_do_not_come_together(workshop: Workshop) -> None:
    for n in range(40):
        workshop.remember("A fact.", tags=[f"user:{n}"])
    workshop.sql("UPDATE consolidation_work SET state = 'done', outcome = 'not_durable'")
    workshop.sql("UPDATE scopes SET unmeasured_since = now() - interval '24 hours'")

    run_sweep(workshop)

    assert 5 < len(workshop.wakeups.scopes) < 35


def test_where_the_bank_wants_it_the_same_is_merged_and_both_proofs_stay(lake: Workshop, call: Caller) -> None:
    lake.configure(near_duplicates="merge")
    judged(lake, {"action": "merge", "text": "Ann rows on the lake a lot."})

    a_day_later(lake)

    texts = {row["text"]: row for row in lake.observations()}
    assert set(texts) == {"Ann rows on the lake a lot.", "Bob swims."}
    merged = texts["Ann rows on the lake a lot."]
    assert (merged["proof_count"], len(merged["evidence"])) == (2, 2)
    tombstones = lake.sql("SELECT merged_into FROM observation_revisions WHERE kind = 'merge'")
    assert [row["merged_into"] for row in tombstones] == [merged["id"]]
    assert suggestions(call) == []
    assert windows(lake) == [(0, 1)]
    assert lake.sql("SELECT count(*) AS n FROM usage_ledger WHERE task = 'judge_duplicate'") == [{"n": 1}]


def test_a_merge_is_a_run_that_can_be_undone(lake: Workshop, call: Caller) -> None:
    lake.configure(near_duplicates="merge")
    judged(lake, {"action": "merge"})
    a_day_later(lake)
    (run,) = call("GET", f"{BANK}/consolidation/runs?limit=1").json()["runs"]
    assert run["counts"] == {"observations_merged": 1, "observations_updated": 1}

    undone = call("POST", f"{BANK}/consolidation/runs/{run['run_id']}/revert")

    assert undone.status == 200, undone.body
    assert {row["text"] for row in lake.observations()} == {*NEAR_TEXTS, "Bob swims."}


def test_what_the_judge_keeps_apart_is_not_asked_about_again_until_it_is_reworded(lake: Workshop, call: Caller) -> None:
    lake.configure(near_duplicates="merge")
    judged(lake, {"action": "keep"})
    a_day_later(lake)
    lake.sql("UPDATE scopes SET unmeasured_since = now()")

    a_day_later(lake)
    assert len(lake.model.calls) == 1
    assert suggestions(call) == []

    lake.sql("UPDATE memory_units SET text = 'Ann rows there.' WHERE text = %s", NEAR_TEXTS[1])
    lake.sql("UPDATE scopes SET unmeasured_since = now()")
    a_day_later(lake)
    assert len(lake.model.calls) == 2


def test_a_model_that_is_away_leaves_the_window_open(lake: Workshop) -> None:
    lake.configure(near_duplicates="merge")
    judged(lake, ModelUnavailable("away"), {"action": "merge"})
    a_day_later(lake)
    assert windows(lake) == [(None, None)]

    run_sweep(lake)
    drain_woken(lake)

    assert windows(lake) == [(0, 1)]
    assert len(lake.observations()) == 2


def test_a_question_that_is_refused_keeps_both(lake: Workshop) -> None:
    lake.configure(near_duplicates="merge")
    judged(lake, ModelRefused("no"))

    a_day_later(lake)

    assert len(lake.observations()) == 3
    assert windows(lake) == [(1, 0)]


def test_questions_of_a_window_are_bounded_and_the_rest_comes_in_the_next(lake: Workshop) -> None:
    more = [f"Cyd runs {n}." for n in range(5)]
    for n, text in enumerate(more):
        lake.embedder.fixed[text] = [0.0, 1.0, 0.1 * n]
    lake.settings = lake.settings.model_copy(update={"hindsight_consolidation_max_duplicate_checks": 1})
    lake.configure(near_duplicates="merge")
    for text in more:
        (fact,) = lake.remember(text)
        lake.answers(creates((text, [fact])), judge=[{"action": "keep"}])
        lake.drain()
    lake.wakeups = NotedWakeups()
    before = len(lake.observations())
    judged(lake, {"action": "merge"})

    a_day_later(lake)
    assert (len(lake.observations()), len(lake.model.calls)) == (before - 1, 1)

    a_day_later(lake)
    assert (len(lake.observations()), len(lake.model.calls)) == (before - 2, 2)


@pytest.mark.parametrize("setting", [{"near_duplicates": "off"}, {"enable_auto_consolidation": False}])
def test_where_nobody_wants_it_nobody_looks(lake: Workshop, call: Caller, setting: dict[str, object]) -> None:
    lake.configure(**setting)

    a_day_later(lake)

    assert suggestions(call) == []
    assert windows(lake) == [(None, None)]
    run_sweep(lake)
    assert lake.wakeups.scopes == []


def test_suggestions_never_pair_what_is_of_two_scopes(workshop: Workshop, call: Caller) -> None:
    told(workshop, ["Ann rows."], "user:a")
    told(workshop, ["Ann rows."], "user:a", "team:x")

    a_day_later(workshop)

    assert suggestions(call) == []


def test_a_key_is_shown_suggestions_of_its_scopes_alone(
    lake: Workshop, call: Caller, limited: Callable[..., Caller]
) -> None:
    told(lake, NEAR_TEXTS, "user:a")
    a_day_later(lake)
    assert len(suggestions(call)) == 2

    hers = suggestions(limited(exact_scopes=(frozenset({"user:a"}),)))
    others = suggestions(limited(exact_scopes=(frozenset({"user:b"}),)))
    blind = suggestions(limited(fact_types=frozenset({"world"})))

    assert [found["tags"] for found in hers] == [["user:a"]]
    assert others == blind == []


def test_a_suggestion_goes_with_either_of_its_observations(lake: Workshop, call: Caller) -> None:
    a_day_later(lake)
    assert len(suggestions(call)) == 1
    scope: ScopeId = lake.scope()

    call("DELETE", f"{BANK}/observations?scope=")

    assert suggestions(call) == []
    assert lake.sql("SELECT * FROM near_duplicates WHERE scope_id = %s", scope) == []
