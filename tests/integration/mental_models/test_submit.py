"""Which refreshes are asked for, folded, put off, and started; and by what."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import WorkDeferred
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.refreshes import after_drain, tend_pages
from hindsight_aws.mental_models import triggers
from hindsight_aws.mental_models.start import start
from hindsight_aws.mental_models.submit import RefreshRequest, submit
from hindsight_aws.model.ids import OperationId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.ports.store import DueBy, DueWork
from tests.support.admin import changing
from tests.support.models import NotedWakeups
from tests.support.reflect import Said
from tests.support.refreshing import Garden, edits, page, ready
from tests.support.units import Unit

ROSES = Unit("Roses grow in the yard.")
AUTOMATIC = RefreshRequest(None)
BY_HAND = RefreshRequest("dev")


def _ask(garden: Garden, asked: RefreshRequest, model_id: str = "plants") -> OperationId | None:
    model = garden.model(model_id)
    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        config = resolve(garden.rig.settings, {})
        return submit(tx, garden.rig.bank_id, model, config, asked, garden.clock.now())


def _open(garden: Garden) -> list[tuple[str, bool, bool]]:
    """Status of every refresh that waits or runs, whether it is full, and whether it came by itself."""
    with changing(garden.rig.database.admin_url) as connection:
        rows = connection.execute(
            "SELECT status, payload ->> 'full', payload ->> 'automatic' FROM operations "
            "WHERE status IN ('pending', 'processing') ORDER BY status DESC, created_at"
        ).fetchall()
    return [(str(row[0]), row[1] == "true", row[2] == "true") for row in rows]


def _due(garden: Garden) -> list[DueWork]:
    return garden.rig.store.due_work(100, DueBy(observations=True, auto_consolidation=True))


def _written(garden: Garden, *tags: str, **trigger: Any) -> None:
    garden.rig.remember(Unit("Roses grow in the yard.", tags=tags))
    asked = garden.plant("plants", *tags, **trigger)
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    garden.grow(asked)


def test_two_submits_are_one_refresh_that_waits(garden: Garden) -> None:
    """[X070] The second is folded into the first; a full one makes it full."""
    first = garden.plant().operation_id

    again, full = _ask(garden, BY_HAND), _ask(garden, RefreshRequest("dev", full=True))

    assert again == first
    assert full == first
    assert _open(garden) == [("pending", True, False)]


def test_one_that_waits_is_started_when_the_one_before_it_ends(garden: Garden) -> None:
    """[X070] Not first by the sweep: the last step wakes a worker, who starts what is due; else nobody is woken."""
    rig = garden.rig
    _written(garden)
    assert rig.woken == []
    queued: list[OperationId] = []

    def meanwhile(_call: ModelCall) -> Said:
        operation_id = _ask(garden, BY_HAND)
        assert operation_id is not None
        queued.append(operation_id)
        return page("Roses grow here.", cites=("f1",))

    garden.say(ready(), meanwhile)
    garden.refresh(full=True)
    assert [garden.operation(one).status for one in queued] == ["pending"]
    assert rig.woken == [(rig.tenant, rig.bank_id)]
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    body = json.dumps({"kind": "refreshes", "tenant_id": str(rig.tenant), "bank_id": str(rig.bank_id)})
    consolidation = ConsolidationPorts(rig.store, rig.embedder, rig.model, NotedWakeups(), garden.clock, rig.settings)

    done = consolidate(consolidation, body, lambda: 60.0, garden.door)

    assert done is Outcome.DONE
    assert [garden.operation(one).status for one in queued] == ["completed"]


def test_one_that_somebody_asks_for_waits_behind_the_one_that_runs(garden: Garden) -> None:
    """[X070] Submitted while one runs: by hand a second one is queued, by itself it is folded."""
    garden.rig.workflows.runs = False
    running = garden.plant()
    garden.grow(running)

    folded = _ask(garden, AUTOMATIC)
    queued = _ask(garden, BY_HAND)
    again = _ask(garden, AUTOMATIC)

    assert folded == running.operation_id
    assert queued not in {None, running.operation_id}
    assert again == queued
    assert _open(garden) == [("processing", False, False), ("pending", False, False)]


def test_one_refresh_of_a_model_runs_at_a_time(garden: Garden) -> None:
    garden.rig.workflows.runs = False
    running = garden.plant()
    garden.grow(running)
    queued = _ask(garden, BY_HAND)
    assert queued is not None

    started = start(garden.door, garden.rig.tenant, garden.rig.bank_id, queued)

    assert started is None
    assert [status for status, _, _ in _open(garden)] == ["processing", "pending"]


def test_an_automatic_refresh_inside_the_interval_is_parked_and_one_by_hand_frees_it(garden: Garden) -> None:
    """[X071] min interval 600 s, last refresh 100 s ago: parked to 500 s from now; by hand it runs now."""
    _written(garden, min_refresh_interval_seconds=600)
    garden.age(100)

    parked = _ask(garden, AUTOMATIC)

    assert parked is not None
    due = garden.operation(parked).next_retry_at
    assert due is not None
    assert abs((due - datetime.now(UTC)) - timedelta(seconds=500)) < timedelta(seconds=20)
    assert start(garden.door, garden.rig.tenant, garden.rig.bank_id, parked) is None
    garden.say(ready(), page("Still roses.", cites=("f1",)))

    done = garden.refresh()

    assert done.operation_id == parked
    assert done.status == "completed"


def test_the_least_interval_is_five_minutes_unless_somebody_says_otherwise(garden: Garden) -> None:
    """[X071] The default of the bank."""
    _written(garden)

    parked = _ask(garden, AUTOMATIC)

    assert parked is not None
    due = garden.operation(parked).next_retry_at
    assert due is not None
    assert timedelta(seconds=280) < due - datetime.now(UTC) <= timedelta(seconds=300)


def test_a_paused_model_is_not_refreshed_by_itself(garden: Garden) -> None:
    _written(garden)
    garden.say(ready(), page())
    garden.refresh()

    assert _ask(garden, AUTOMATIC) is None


@pytest.mark.parametrize(("written", "is_stale"), [((), False), (("b",), False), (("a",), True), (("a", "b"), True)])
def test_a_write_stales_the_models_whose_scope_it_is_in(
    garden: Garden, written: tuple[str, ...], is_stale: bool
) -> None:
    """[X072] Writes out of the scope of a tagged model leave it fresh, one in it makes it stale; single and listed."""
    _written(garden, "a")
    assert garden.view().staleness is None

    garden.rig.remember(Unit("Something new.", tags=written))

    assert (garden.view().staleness == "new_memories") is is_stale
    assert [view.staleness is not None for view in garden.listed()] == [is_stale]


def test_an_untagged_write_does_not_stale_a_model_with_tags(garden: Garden) -> None:
    """[X072] Not even under tags_match `any`, by which it is read; whoever refreshes reads it all the same."""
    _written(garden, "a", tags_match="any", mode="delta")

    garden.rig.remember(Unit("Tulips grow here too."))

    assert garden.view().staleness is None
    garden.say(ready(), edits())
    garden.refresh()
    assert "Tulips grow here too." in "\n".join(garden.rig.model.calls[-1].blocks)


def test_a_schedule_that_is_due_refreshes_a_stale_model_once(garden: Garden) -> None:
    """[X073] One row for a window, however often it is looked at."""
    _written(garden, refresh_cron="* * * * *", min_refresh_interval_seconds=0)
    garden.rig.remember(Unit("Tulips grow too."))
    garden.age(120)
    garden.rig.workflows.runs = False
    with changing(garden.rig.database.admin_url) as connection:
        connection.execute("UPDATE mental_models SET due_at = now() - interval '1 second'")

    due = _due(garden)
    tend_pages(garden.door, due)
    tend_pages(garden.door, due)

    assert [work.kind for work in due] == ["page_schedule"]
    assert _open(garden) == [("processing", False, True)]
    assert [work.kind for work in _due(garden)] == []


@pytest.mark.parametrize("reason", ["fresh", "young"])
def test_a_schedule_asks_for_nothing_where_nothing_is_to_be_done(garden: Garden, reason: str) -> None:
    """[X073] Due but not stale; stale, but refreshed since the schedule's last time."""
    _written(garden, refresh_cron="0 0 1 1 *" if reason == "young" else "* * * * *")
    if reason == "young":
        garden.rig.remember(Unit("Tulips grow too."))
    else:
        garden.age(120)
    page_id = garden.model().page_id

    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        asked = triggers.on_schedule(garden.door, tx, garden.rig.bank_id, page_id)

    assert not asked
    assert _open(garden) == []


@pytest.mark.parametrize("has_moved", [False, True])
def test_a_full_schedule_waits_for_a_refresh_since_the_last_full_one(garden: Garden, has_moved: bool) -> None:
    """[X073] full_refresh_cron: skipped where nothing was refreshed since, full where something was."""
    _written(garden, mode="delta", full_refresh_cron="* * * * *", min_refresh_interval_seconds=0)
    garden.age(120)
    if has_moved:
        garden.rig.remember(Unit("Tulips grow too."))
        garden.say(ready(), edits())
        garden.refresh()
    page_id = garden.model().page_id

    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        triggers.on_schedule(garden.door, tx, garden.rig.bank_id, page_id)

    assert _open(garden) == ([("pending", True, True)] if has_moved else [])


def test_a_workflow_that_cannot_be_started_leaves_the_refresh_waiting(garden: Garden) -> None:
    garden.rig.workflows.refusals = [WorkDeferred("too many executions")]

    asked = garden.plant()
    garden.grow(asked)

    assert garden.operation(asked.operation_id).status == "pending"


def test_a_refresh_whose_worker_died_is_started_again(garden: Garden) -> None:
    """The sweep finds a lease that ran out; after three such ends the operation fails."""
    garden.rig.remember(ROSES)
    garden.rig.workflows.runs = False
    asked = garden.plant()
    for _ in range(4):
        garden.grow(asked)
        with changing(garden.rig.database.admin_url) as connection:
            connection.execute("UPDATE operations SET lease_until = now() - interval '1 second'")
            connection.execute("UPDATE reflect_runs SET status = 'failed', ended_at = now() WHERE status = 'running'")

    done = garden.operation(asked.operation_id)
    assert len(garden.rig.workflows.started) == 3
    assert garden.outcome(done) == ("failed", "refresh_failed_error", "unexpected_error")
    assert not garden.model().is_paused


def test_a_drain_without_marks_asks_for_nothing(garden: Garden) -> None:
    _written(garden, refresh_after_consolidation=True)
    garden.rig.remember(Unit("Tulips grow too."))

    after_drain(garden.door, garden.rig.tenant, garden.rig.bank_id)

    assert _open(garden) == []
