"""Two operations on one document: whoever waited for the row sees what its holder left."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, current_thread, main_thread

import pytest

from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import DocumentId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import RetainItem
from hindsight_aws.store.queries import Query
from hindsight_aws.store.session import Session
from tests.integration.retain.conftest import Workshop
from tests.support.contention import until_blocked

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
            assert stop.goes_on.wait(10)
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
        assert between.is_there.wait(10)
        with _ending(workshop, held, how) as told:
            between.goes_on.set()
            until_blocked(workshop.database)
        lease = taking.result(timeout=10)

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
