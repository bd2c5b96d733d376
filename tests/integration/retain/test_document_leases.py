"""Two operations on one document: whoever waited for the row sees what its holder left."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, current_thread, main_thread
from typing import Any

import pytest

from hindsight_aws.documents import DocumentPorts, delete_document
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import DocumentId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import RetainItem
from hindsight_aws.store.queries import Query
from hindsight_aws.store.session import Session
from tests.integration.retain.conftest import Workshop
from tests.support.contention import until_blocked
from tests.support.models import one_fact_per_line

LEASE_S = 60.0


def _submit(workshop: Workshop, text: str) -> OperationId:
    workshop.submit(RetainItem(text, document_id="d"))
    return workshop.wakeups.operations.pop()[1]


def _names(tx: Transaction) -> dict[DocumentId, str]:
    bank = tx.banks.find("bank")
    assert bank is not None
    return {document_id_of(bank.bank_id, "d"): "d"}


def _take(worker: Workshop, operation: OperationId) -> Lease | None:
    """The lease, when the operation and its document could be leased."""
    with worker.store.transaction(worker.tenant) as tx:
        lease = tx.operations.lease(operation, LEASE_S)
        assert lease is not None
        return lease if tx.operations.lease_documents(lease, _names(tx), LEASE_S) else None


@contextmanager
def _ending(worker: Workshop, lease: Lease, how: str) -> Iterator[list[OperationId]]:
    """The holder has ended its operation and asked who waits, and commits when the block ends."""
    with worker.store.transaction(worker.tenant) as tx:
        if how == "complete":
            tx.operations.complete(lease, {})
        elif how == "fail":
            tx.operations.fail(lease, "ModelDenied", "no", {}, {})
        yield tx.operations.waiting(lease)


@dataclass
class Between:
    """A thread that has made sure of a document's row and is about to lock it."""

    is_there: Event = field(default_factory=Event)
    goes_on: Event = field(default_factory=Event)


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Between:
    """Stops whoever is not the main thread between these two statements."""
    stop, execute = Between(), Session.execute

    def stopping(session: Session, query: Query, **params: object) -> int:
        touched = execute(session, query, **params)
        if query.name == "make_document_places" and current_thread() is not main_thread():
            stop.is_there.set()
            assert stop.goes_on.wait(60)
        return touched

    monkeypatch.setattr(Session, "execute", stopping)
    return stop


@pytest.mark.parametrize("how", ["complete", "fail"])
@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "new"])
def test_an_operation_that_waited_for_the_holders_commit_has_the_document(
    workshop: Workshop, twin: Workshop, between: Between, how: str, is_stored: bool
) -> None:
    if is_stored:
        workshop.retain(RetainItem("Former.", document_id="d"))
    first, second = _submit(workshop, "First."), _submit(workshop, "Second.")
    held = _take(workshop, first)
    assert held is not None

    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(_take, twin, second)
        assert between.is_there.wait(60)
        with _ending(workshop, held, how) as told:
            between.goes_on.set()
            until_blocked(workshop.database)
        lease = taking.result(timeout=60)

    assert lease is not None
    assert told == [second]


def test_an_operation_that_found_the_document_taken_is_told_to_the_holder(workshop: Workshop, twin: Workshop) -> None:
    first, second = _submit(workshop, "First."), _submit(workshop, "Second.")
    held = _take(workshop, first)
    assert held is not None

    refused = _take(twin, second)
    with _ending(workshop, held, "complete") as told:
        pass

    assert refused is None
    assert told == [second]


def test_a_later_operation_does_not_overtake_an_earlier_one(workshop: Workshop) -> None:
    first, second = _submit(workshop, "First."), _submit(workshop, "Second.")

    assert _take(workshop, second) is None
    assert _take(workshop, first) is not None


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Between:
    """Stops whoever deletes a document, not in the main thread, when it has looked for the document's writers."""
    stop, tuples = Between(), Session.tuples

    def stopping(session: Session, query: Query, **params: object) -> list[tuple[Any, ...]]:
        if query.name == "lock_versions" and current_thread() is not main_thread() and not stop.is_there.is_set():
            stop.is_there.set()
            assert stop.goes_on.wait(60)
        return tuples(session, query, **params)

    monkeypatch.setattr(Session, "tuples", stopping)
    return stop


@pytest.mark.parametrize("is_queued", [False, True], ids=["at once", "queued"])
def test_a_retain_whose_document_is_deleted_under_it_is_done_after_the_delete(
    workshop: Workshop, twin: Workshop, searched: Between, is_queued: bool
) -> None:
    workshop.retain(RetainItem("First.", document_id="d"))
    ports = DocumentPorts(twin.store, twin.wakeups, twin.settings)

    with ThreadPoolExecutor(1) as pool:
        deleting = pool.submit(delete_document, ports, workshop.principal, "bank", "d")
        assert searched.is_there.wait(60)

        def deleted_meanwhile(call: ModelCall) -> JsonObject:
            searched.goes_on.set()
            deleting.result(60)
            return one_fact_per_line(call)

        workshop.model.script = deleted_meanwhile
        if is_queued:
            workshop.submit(RetainItem("Second.", document_id="d"))
            workshop.deliver_all()
        else:
            assert not workshop.retain(RetainItem("Second.", document_id="d")).is_async

    assert workshop.texts() == ["Second."]
    assert not workshop.retain(RetainItem("Third.", document_id="d")).is_async
