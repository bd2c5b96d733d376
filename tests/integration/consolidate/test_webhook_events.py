"""What webhooks will tell of is written once, in the commit of what it tells of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hindsight_aws import faults
from hindsight_aws.errors import DatabaseUnavailable, ModelDenied, ModelReplyMalformed
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime
from tests.support.consolidation import Workshop, creates
from tests.support.models import ScriptedModel
from tests.support.rebuilding import listening, run_sweep

BANK = "/v1/default/banks/bank"


def _events(workshop: Workshop, event: str = "consolidation.completed") -> list[dict[str, Any]]:
    return workshop.sql(
        "SELECT operation_id, status, data FROM webhook_events WHERE event = %s ORDER BY created_at", event
    )


def _asked_for(call: Caller) -> str:
    operation_id: str = call("POST", f"{BANK}/consolidate").json()["operation_id"]
    return operation_id


def test_a_consolidation_that_completes_is_told_once(workshop: Workshop, call: Caller) -> None:
    """[C140] In the commit that ends it, with what it did; however often somebody looks whether it has ended."""
    facts = workshop.remember("A is red.", "B is green.")
    operation_id = _asked_for(call)
    assert _events(workshop) == []
    workshop.answers(creates(("A is red.", [facts[0]]), ("B is green.", [facts[1]])))

    workshop.drain()
    workshop.drain()
    run_sweep(workshop)

    (event,) = _events(workshop)
    assert (str(event["operation_id"]), event["status"]) == (operation_id, "completed")
    assert event["data"] == {
        "observations_created": 2,
        "observations_updated": 0,
        "observations_deleted": 0,
        "error_message": None,
    }


@pytest.mark.parametrize("point", ["store.before_commit", "store.after_commit"])
def test_the_event_is_there_exactly_when_the_operation_has_ended(
    workshop: Workshop, call: Caller, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """[C140] A worker that dies at any commit leaves both or neither."""
    listening(workshop).remember("A is red.")
    _asked_for(call)
    state = (
        "SELECT (SELECT status FROM operations) = 'completed' AS is_over, (SELECT count(*) FROM webhook_events) AS told"
    )
    seen = []

    for dies_at in range(1, 10):
        reached = [0]

        def strike(_address: str, at: str, dies_at: int = dies_at, reached: list[int] = reached) -> str:
            reached[0] += at == point
            if at == point and reached[0] == dies_at:
                raise DatabaseUnavailable("the worker dies here")
            return ""

        with monkeypatch.context() as patch:
            patch.setattr(faults, "_ADDRESS", "here")
            patch.setattr(faults, "_ask", strike)
            try:
                workshop.drain()
            except DatabaseUnavailable:
                workshop.store.close()
        workshop.sql("UPDATE scopes SET lease_until = '-infinity'")
        (row,) = workshop.sql(state)
        seen.append((row["is_over"], row["told"]))

    assert set(seen) <= {(False, 0), (True, 1)}
    assert seen[-1] == (True, 1)


def test_a_consolidation_over_nothing_is_told_as_well(workshop: Workshop, call: Caller) -> None:
    operation_id = _asked_for(call)

    (event,) = _events(workshop)

    assert (str(event["operation_id"]), event["status"]) == (operation_id, "completed")
    assert event["data"]["observations_created"] == 0


def test_a_failed_consolidation_says_why_and_its_retry_is_an_event_of_its_own(workshop: Workshop, call: Caller) -> None:
    (fact,) = workshop.remember("A is red.")
    operation_id = _asked_for(call)
    workshop.answers(ModelReplyMalformed("prose"))
    workshop.drain()
    (failed,) = _events(workshop)
    assert failed["status"] == "failed"
    assert "could not be consolidated" in failed["data"]["error_message"]

    assert call("POST", f"{BANK}/operations/{operation_id}/retry").status == 200
    workshop.answers(creates(("A is red.", [fact])))
    workshop.drain()

    assert [event["status"] for event in _events(workshop)] == ["failed", "completed"]


def test_a_refused_consolidation_is_told_as_failed(workshop: Workshop, call: Caller) -> None:
    workshop.remember("A is red.")
    _asked_for(call)
    workshop.answers(ModelDenied("no access"))

    workshop.drain()

    (event,) = _events(workshop)
    assert (event["status"], event["data"]["error_message"]) == ("failed", "no access")


def test_a_cancelled_consolidation_is_told_to_nobody(workshop: Workshop, call: Caller) -> None:
    workshop.remember("A is red.")
    operation_id = _asked_for(call)

    call("DELETE", f"{BANK}/operations/{operation_id}")
    listening(workshop).drain()

    assert _events(workshop) == []


def test_a_retain_is_told_once_for_each_document(workshop: Workshop, call: Caller, services: FakeRuntime) -> None:
    items = [
        {"content": "Ann rows.\nAnn sails.", "document_id": "d", "tags": ["user:a"]},
        {"content": "Bob swims.", "document_id": "e"},
    ]
    body = {"items": items, "operation_id": "0b0f6c9e-3f5c-4c39-8b61-57a4d6b0c001"}

    for _ in range(2):
        assert call("POST", f"{BANK}/memories", body).status == 200

    told = sorted((event["data"]["document_id"], event["data"]) for event in _events(workshop, "retain.completed"))
    assert [data for _, data in told] == [
        {"document_id": "d", "tags": ["user:a"], "memory_unit_count": 2},
        {"document_id": "e", "tags": [], "memory_unit_count": 1},
    ]
    assert "Ann" not in str(told)
    assert isinstance(services.model, ScriptedModel)


@pytest.mark.parametrize("has_hook", [True, False])
def test_who_listens_is_told_at_once_and_nobody_is_woken_for_nothing(
    workshop: Workshop, call: Caller, services: FakeRuntime, has_hook: bool
) -> None:
    if has_hook:
        assert call("POST", f"{BANK}/webhooks", {"url": "https://example.com/h"}).status == 201
    workshop.remember("A is red.")
    _asked_for(call)
    assert call("POST", f"{BANK}/memories", {"items": [{"content": "B is green."}]}).status == 200
    retained = len(services.noted.webhooks)

    listening(workshop).drain()

    assert retained == has_hook
    assert len(workshop.wakeups.webhooks) == has_hook


def _hook(call: Caller) -> None:
    assert call("POST", f"{BANK}/webhooks", {"url": "https://example.com/h"}).status == 201


def test_what_consolidates_by_itself_is_told_once_for_the_bank_when_nothing_waits(
    workshop: Workshop, call: Caller
) -> None:
    """Not for each scope; what came before anybody listened, and what was asked for, is not part of it."""
    listening(workshop).remember("A is red.", tags=["a"])
    workshop.drain("a")
    _hook(call)
    workshop.remember("B is red.", "C is red.", tags=["b"])
    workshop.remember("D is red.", tags=["d"])

    workshop.drain("b")
    assert (_events(workshop), workshop.wakeups.webhooks) == ([], [])
    workshop.drain("d")
    workshop.drain("d")

    (event,) = _events(workshop)
    assert event["status"] == "completed"
    assert event["data"]["observations_created"] == 3
    assert workshop.wakeups.webhooks == [(workshop.tenant, workshop.bank_id)]
    shown = call("GET", f"{BANK}/operations/{event['operation_id']}").json()
    assert (shown["operation_type"], shown["status"]) == ("consolidation", "completed")
    assert shown["result_metadata"]["memories_processed"] == 3


def test_each_round_is_told_of_and_one_that_failed_says_why(workshop: Workshop, call: Caller) -> None:
    _hook(call)
    (fact,) = workshop.remember("A is red.")
    workshop.answers(ModelReplyMalformed("prose"))
    workshop.drain()
    workshop.sql("UPDATE consolidation_work SET failed_at = now() - interval '2 hours'")
    run_sweep(workshop)
    workshop.answers(creates(("A is red.", [fact])))
    workshop.drain()

    first, second = _events(workshop)

    assert (first["status"], second["status"]) == ("failed", "completed")
    assert "1 facts could not be consolidated" in first["data"]["error_message"]
    assert first["operation_id"] != second["operation_id"]


def test_of_two_workers_that_end_a_round_at_once_one_tells_of_it(workshop: Workshop, call: Caller) -> None:
    other_store = PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0)
    _hook(call)
    listening(workshop).remember("A is red.")
    workshop.drain()
    workshop.sql("DELETE FROM operations")

    with ThreadPoolExecutor(1) as thread:
        with other_store.transaction(workshop.tenant) as tx:
            first = tx.webhooks.tell_of_round(workshop.bank_id, everywhere=False)
            second = thread.submit(_tell_of_round, workshop)
            with pytest.raises(TimeoutError):
                second.result(0.1)
        told = second.result(60)
    other_store.close()

    assert (first, told) == (True, False)
    assert len(_events(workshop)) == 1


def _tell_of_round(workshop: Workshop) -> bool:
    with workshop.store.transaction(workshop.tenant) as tx:
        return tx.webhooks.tell_of_round(workshop.bank_id, everywhere=False)


def test_a_bank_that_never_rests_is_told_of_all_the_same(workshop: Workshop, call: Caller) -> None:
    _hook(call)
    workshop.sql("UPDATE webhooks SET listens_since = now() - interval '1 day'")
    listening(workshop).remember("A is red.", tags=["a"])
    workshop.remember("B is red.", tags=["b"])

    workshop.drain("a")
    early = _events(workshop)
    workshop.sql("UPDATE consolidation_runs SET finished_at = now() - interval '16 minutes'")
    workshop.drain("a")

    assert early == []
    assert len(_events(workshop)) == 1
