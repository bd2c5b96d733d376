"""A row that cannot be tended to costs no other its wake-up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest

from hindsight_aws.errors import DatabaseTooSlow, DatabaseUnavailable, HindsightError
from hindsight_aws.jobs.sweep import CARE, _tend, _tend_and_wake_scopes
from hindsight_aws.jobs.tending import TENDED
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.store import Backlog, DueBy, DueKind, DueWork
from hindsight_aws.settings import Settings
from tests.support.models import NotedWakeups
from tests.support.sweeping import sweep_once

ILL, WELL = TenantId(uuid4()), TenantId(uuid4())
BANK = uuid4()


class SickStore:
    """A store in which one tenant's rows cannot be touched; of the other's, every scope is revived."""

    def __init__(self, due: list[DueWork], error: HindsightError) -> None:
        self._due, self._error = due, error
        self.consolidation = self
        self.finished: list[UUID] = []

    def due_work(self, at_most: int, due_by: DueBy) -> list[DueWork]:
        self.asked = due_by
        return self._due

    def backlog(self, due_by: DueBy) -> Backlog:
        raise DatabaseTooSlow("so much waits that it cannot be counted")

    @contextmanager
    def transaction(self, tenant_id: UUID) -> Iterator[SickStore]:
        if tenant_id == ILL:
            raise self._error
        yield self

    def revive(self, bank_id: UUID, scope_id: UUID) -> int:
        return 1

    def finish_operations(self, bank_id: UUID) -> bool:
        self.finished.append(bank_id)
        return False


@pytest.mark.parametrize("error", [DatabaseTooSlow("slow"), DatabaseUnavailable("gone")], ids=["slow", "gone"])
def test_a_row_that_fails_stops_no_other(error: HindsightError) -> None:
    operation, ill_operation, scope, revived, archive = (uuid4() for _ in range(5))
    due = [
        DueWork(ILL, "operation:consolidation", BANK, uuid4()),
        DueWork(ILL, "reflect", BANK, uuid4()),
        DueWork(ILL, "revival", BANK, uuid4()),
        DueWork(ILL, "operation:retain", BANK, ill_operation),
        DueWork(WELL, "operation:consolidation", BANK, uuid4()),
        DueWork(WELL, "revival", BANK, revived),
        DueWork(WELL, "operation:retain", BANK, operation),
        DueWork(WELL, "consolidation", BANK, scope),
        DueWork(WELL, "links", BANK, BANK),
        DueWork(WELL, "operation:export_bank", BANK, archive),
    ]
    store, wakeups = SickStore(due, error), NotedWakeups()

    delivery = uuid4()
    due += [DueWork(WELL, "webhook", BANK, delivery), *[DueWork(WELL, "webhook_events", BANK, BANK)] * 2]
    report = sweep_once(store, wakeups, Settings())  # type: ignore[arg-type]  # the part of a store that a sweep asks

    assert wakeups.operations == [(ILL, ill_operation, 0), (WELL, operation, 0)]
    assert wakeups.transfers == [(WELL, archive, 0)]
    assert wakeups.scopes == [(WELL, BANK, scope), (WELL, BANK, revived)]
    assert wakeups.links == [(WELL, BANK, 0)]
    assert wakeups.deliveries == [(WELL, BANK, delivery, 0)]
    assert wakeups.webhooks == [(WELL, BANK)]
    assert store.finished == [BANK]
    assert sum(report.woken.values()) == len(due)


def test_strategies_of_the_server_that_are_wrong_stop_no_other_work(caplog: pytest.LogCaptureFixture) -> None:
    operation = DueWork(TenantId(uuid4()), "operation:retain", uuid4(), uuid4())
    store, wakeups = SickStore([operation], DatabaseTooSlow("too slow")), NotedWakeups()
    wrong = Settings(hindsight_environment="local", bank_defaults=(("consolidation_strategies", "[{"),))

    sweep_once(store, wakeups, wrong)  # type: ignore[arg-type]  # a store without repositories

    assert [operation_id for _, operation_id, _ in wakeups.operations] == [operation.id]
    assert store.asked.server_policy is None
    assert "settings are wrong" in caplog.text


def test_work_of_a_kind_that_nobody_knows_is_told_and_not_counted_as_woken(caplog: pytest.LogCaptureFixture) -> None:
    due = [DueWork(WELL, "tomorrow", BANK, uuid4()), DueWork(WELL, DueKind.LINKS, BANK, BANK)]
    store, wakeups = SickStore(due, DatabaseTooSlow("slow")), NotedWakeups()

    report = sweep_once(store, wakeups, Settings())  # type: ignore[arg-type]  # the part of a store that a sweep asks

    assert (report.woken, report.unknown) == ({"links": 1}, {"tomorrow": 1})
    assert wakeups.links == [(WELL, BANK, 0)]
    assert "a kind that nobody takes care of: tomorrow" in caplog.text


def test_each_kind_is_taken_care_of_in_one_place() -> None:
    taken = [kind for kinds, _ in CARE for kind in kinds]

    assert sorted(taken) == sorted(DueKind)


def test_the_rows_that_are_tended_are_of_kinds_that_a_sweep_tends() -> None:
    kinds = {kind for kinds, care in CARE if care in (_tend, _tend_and_wake_scopes) for kind in kinds}

    assert TENDED.keys() == {*kinds, DueKind.ASKED_CONSOLIDATION}
