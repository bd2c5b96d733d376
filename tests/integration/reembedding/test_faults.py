"""Workers die, models are busy, days are used up, people change their minds: the former vectors or the new ones."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import ModelDenied, ModelThrottled, ModelUnavailable
from hindsight_aws.ports.store import DueBy
from hindsight_aws.reembedding import adopt, drop, make, move, points, run
from tests.integration.reembedding.conftest import BANK, NEW, OLD, PAGE, REVISION, Desk
from tests.integration.reembedding.test_reembed import TEXTS
from tests.support.deaths import Killed, Strike, striking
from tests.support.sweeping import sweep_once


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch) -> Strike:
    return striking(monkeypatch, (run, make, adopt, move, drop))


@pytest.fixture
def small(desk: Desk) -> Desk:
    """One text a batch, so that there are boundaries between them."""
    desk.configure(hindsight_reembed_batch=1)
    return desk


def _woken(desk: Desk, operation: str) -> None:
    """The lease of a worker that died runs out, and the sweep wakes another."""
    desk.sql("UPDATE hindsight.operations SET lease_until = '-infinity' WHERE operation_id = %s RETURNING 1", operation)
    desk.wake(operation)


_POINTS = [
    (points.AFTER_LEASE, 1),
    (points.AFTER_EMBED, 2),
    (points.AFTER_BATCH, 2),
    (points.AFTER_CLOSE, 1),
    (points.BEFORE_ADOPTION, 1),
    (points.AFTER_ADOPTION, 1),
    (points.AFTER_MOVE, 2),
    (points.BEFORE_END, 1),
    (points.AFTER_END, 1),
]


_LEFT = {
    points.AFTER_ADOPTION: (NEW, {OLD}),
    points.AFTER_MOVE: (NEW, {OLD, NEW}),
    points.BEFORE_END: (NEW, {NEW}),
    points.AFTER_END: (NEW, {NEW}),
}


@pytest.mark.parametrize(("point", "number"), _POINTS, ids=lambda part: str(part).removeprefix("reembed."))
def test_another_worker_goes_on_where_one_that_died_left_it(
    small: Desk, strike: Strike, point: str, number: int
) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    strike(point, number)

    with pytest.raises(Killed):
        small.work()
    left = (small.serves(), small.models())
    found = small.recall("Bob feeds the hens.")
    _woken(small, operation)
    small.work()

    assert left == _LEFT.get(point, (OLD, {OLD}))
    assert found[0] == "Bob feeds the hens."
    assert small.operation(operation)["status"] == "completed"
    assert (small.serves(), small.models(), small.beside()) == (NEW, {NEW}, 0)
    documents = [text for text in small.new.texts if text not in TEXTS]
    assert len(documents) == (4 if point == points.AFTER_EMBED else 3), "what was kept is not paid for again"


def test_a_worker_that_died_keeps_writers_out_for_a_minute_at_most(small: Desk, strike: Strike) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    strike(points.AFTER_CLOSE, 1)
    with pytest.raises(Killed):
        small.work()

    (closed,) = small.sql("SELECT vectors_closed_until - now() < interval '61 seconds' AS soon FROM hindsight.banks")
    small.sql("UPDATE hindsight.banks SET vectors_closed_until = now() RETURNING 1")
    small.retain("Dave paints the shed.")
    _woken(small, operation)
    small.work()

    assert closed == {"soon": True}
    assert (small.models(), small.serves()) == ({NEW}, NEW)


def test_cancelled_it_leaves_the_former_vectors_and_nothing_beside(small: Desk, strike: Strike) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    strike(points.AFTER_CLOSE, 1)
    with pytest.raises(Killed):
        small.work()
    kept = small.beside()

    answer = small.call("DELETE", f"{BANK}/operations/{operation}")
    _woken(small, operation)
    small.work()
    small.retain("Dave paints the shed.")

    assert (kept, answer.status) == (3, 200)
    assert small.operation(operation)["status"] == "cancelled"
    assert (small.serves(), small.models(), small.beside()) == (OLD, {OLD}, 0)


def test_cancelled_it_can_be_retried(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    small.call("DELETE", f"{BANK}/operations/{operation}")

    assert small.call("POST", f"{BANK}/operations/{operation}/retry").status == 200
    small.work()

    assert (small.operation(operation)["status"], small.serves()) == ("completed", NEW)


def test_it_is_not_retried_while_another_goes_on(small: Desk) -> None:
    small.retain(*TEXTS)
    former = small.ask()
    small.call("DELETE", f"{BANK}/operations/{former}")
    other = small.ask(OLD)

    refused = small.call("POST", f"{BANK}/operations/{former}/retry")
    small.work()

    assert (refused.status, other in refused.json()["detail"]) == (409, True)
    assert (small.operation(former)["status"], small.operation(other)["status"]) == ("cancelled", "completed")
    assert (small.serves(), small.models(), small.beside()) == (OLD, {OLD}, 0)
    assert small.call("POST", f"{BANK}/operations/{former}/retry").status == 200


def test_a_throttled_model_is_waited_for_and_counts_no_attempt(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    small.new.failures = [ModelThrottled("slow down")]

    small.work(most=1)
    (waiting,) = small.sql("SELECT status, attempts FROM hindsight.operations WHERE operation_id = %s", operation)
    small.sql("UPDATE hindsight.operations SET due_at = now() WHERE operation_id = %s RETURNING 1", operation)
    small.work()

    assert waiting == {"status": "pending", "attempts": 0}
    assert small.operation(operation)["status"] == "completed"


def test_a_model_that_is_denied_fails_it_and_the_former_vectors_serve(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    small.new.failures = [ModelDenied("no access to the model")]

    small.work()
    ended = small.operation(operation)

    assert (ended["status"], ended["error_message"]) == ("failed", "no access to the model")
    assert (small.serves(), small.beside()) == (OLD, 0)
    assert small.recall("Bob feeds the hens.")[0] == "Bob feeds the hens."
    calls = small.sql("SELECT status FROM hindsight.usage_ledger WHERE operation_id = %s", operation)
    assert calls == [{"status": "denied"}]


def test_a_model_that_stays_away_fails_it_in_the_end(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    small.configure(hindsight_reembed_max_attempts=2)
    small.new.failures = [ModelUnavailable("away")] * 3

    for _ in range(2):
        small.sql("UPDATE hindsight.operations SET due_at = now() WHERE operation_id = %s RETURNING 1", operation)
        small.work(most=1)

    assert small.operation(operation)["status"] == "failed"


def test_a_tenant_whose_day_is_used_up_waits_and_loses_nothing(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()
    small.sql(
        "INSERT INTO hindsight.tenant_limits (tenant_id, tokens_per_day) VALUES (%s, 1) RETURNING 1", small.tenant
    )

    small.work(most=1)
    parked = (small.beside(), small.operation(operation))
    small.sql("DELETE FROM hindsight.tenant_limits RETURNING 1")
    small.sql("DELETE FROM hindsight.tenant_parking RETURNING 1")
    _woken(small, operation)
    small.work()

    assert parked[0] == 1
    assert parked[1]["status"] == "pending"
    assert "parked_until" in parked[1]
    assert (small.serves(), len(small.new.texts)) == (NEW, 3)


def test_time_that_runs_out_is_no_attempt_and_another_message_goes_on(small: Desk) -> None:
    small.retain(*TEXTS)
    operation = small.ask()

    small.work(-1.0, most=1)
    (waiting,) = small.sql("SELECT status, attempts FROM hindsight.operations WHERE operation_id = %s", operation)
    small.work()

    assert waiting == {"status": "pending", "attempts": 0}
    assert small.operation(operation)["status"] == "completed"


@pytest.mark.parametrize("what", ["fact", "revision", "page"])
def test_what_is_taken_out_takes_along_the_vector_made_beside(small: Desk, strike: Strike, what: str) -> None:
    small.retain(*TEXTS)
    small.sql(REVISION)
    small.sql(PAGE)
    small.ask()
    strike(points.AFTER_CLOSE, 1)
    with pytest.raises(Killed):
        small.work()
    before = small.beside()

    small.sql(_TAKEN_OUT[what])

    assert (before, small.beside()) == (5, 4)


_TAKEN_OUT = {
    "fact": "DELETE FROM hindsight.memory_units WHERE text LIKE 'Bob%%' RETURNING 1",
    "revision": "UPDATE hindsight.observation_revisions SET text = NULL, embedding = NULL RETURNING 1",
    "page": "UPDATE hindsight.mental_models SET content = '', embedding = NULL RETURNING 1",
}


def test_time_that_runs_out_while_vectors_are_put_in_place_is_gone_on_with(
    small: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens from then on, it never fails: there is no way back."""
    small.retain(*TEXTS)
    small.configure(hindsight_reembed_max_attempts=1)
    operation = small.ask()
    late = [0.0]
    monkeypatch.setattr("hindsight_aws.reembedding.move.time.monotonic", lambda: late[0])
    monkeypatch.setattr(move, "reached", lambda _: late.__setitem__(0, 700.0))

    for _ in TEXTS:
        late[0] = 0.0
        small.work(most=1)
    (begun,) = small.sql("SELECT status, progress - 'at' AS progress FROM hindsight.operations WHERE kind = 'reembed'")
    late[0] = 0.0
    monkeypatch.setattr(move, "reached", lambda _: None)
    small.work()

    assert begun == {
        "status": "pending", "progress": {"stage": "moving", "processed": 2, "total": 3, "detail": {}},
    }  # fmt: skip
    assert small.operation(operation)["result_metadata"]["vectors"] == 3
    assert (small.serves(), small.models(), small.beside()) == (NEW, {NEW}, 0)


def _stopped_when_made(small: Desk, strike: Strike, monkeypatch: pytest.MonkeyPatch) -> str:
    """The operation, whose worker died with all three vectors made; one is removed at once from now on."""
    small.retain(*TEXTS)
    operation = small.ask()
    strike(points.AFTER_CLOSE, 1)
    with pytest.raises(Killed):
        small.work()
    monkeypatch.setattr("hindsight_aws.store.reembedding._DROPPED_AT_ONCE", 1)
    return operation


def test_what_a_cancelled_one_made_goes_in_parts_whoever_dies_and_whatever_message_is_lost(
    small: Desk, strike: Strike, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = _stopped_when_made(small, strike, monkeypatch)

    small.call("DELETE", f"{BANK}/operations/{operation}")
    left = [small.beside()]
    strike(points.AFTER_DROP, 1)
    with pytest.raises(Killed):
        small.work()
    left.append(small.beside())
    due = small.services.store.due_work(9, DueBy(observations=True, auto_consolidation=True))
    sweep_once(small.services.store, small.services.noted, small.services.settings)
    small.work()

    assert (left, small.beside()) == ([2, 1], 0)
    assert [(work.kind, str(work.id)) for work in due if work.kind == "left_vectors"] == [("left_vectors", operation)]
    assert (small.serves(), small.models(), small.operation(operation)["status"]) == (OLD, {OLD}, "cancelled")


def test_once_it_is_retried_what_is_left_is_made_use_of(
    small: Desk, strike: Strike, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = _stopped_when_made(small, strike, monkeypatch)
    small.call("DELETE", f"{BANK}/operations/{operation}")
    small.work(-1.0, most=1)
    left = small.beside()

    small.call("POST", f"{BANK}/operations/{operation}/retry")
    small.work()

    assert (left, len(small.new.texts)) == (1, 5), "two of three are made again"
    assert (small.operation(operation)["status"], small.models(), small.beside()) == ("completed", {NEW}, 0)


def test_what_a_failed_one_made_goes_in_parts_too(small: Desk, strike: Strike, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = _stopped_when_made(small, strike, monkeypatch)
    small.configure(hindsight_reembed_max_attempts=0)

    _woken(small, operation)
    small.work(most=1)
    left = small.beside()
    small.work()

    assert (small.operation(operation)["status"], left, small.beside()) == ("failed", 2, 0)
