"""Operations over a real database: the workshop of retain, and what a caller may do to its operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws import operations
from hindsight_aws.jobs.sweep import SweepReport
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.operations import OperationView
from tests.integration.retain.conftest import Workshop, twin, workshop
from tests.support.models import one_fact_per_line
from tests.support.sweeping import sweep_once

__all__ = ["Desk", "desk", "twin", "workshop"]


@dataclass
class Desk:
    """Where a caller looks after operations of the bank `bank`."""

    shop: Workshop

    def cancel(self, operation_id: UUID, principal: Principal | None = None, bank: str = "bank") -> None:
        caller = principal or self.shop.principal
        operations.cancel(self.shop.store, self.shop.wakeups, caller, bank, OperationId(operation_id))

    def retry(self, operation_id: UUID, principal: Principal | None = None, bank: str = "bank") -> None:
        caller = principal or self.shop.principal
        operations.retry(self.shop.store, self.shop.wakeups, caller, bank, OperationId(operation_id))

    def remove(self, operation_id: UUID, principal: Principal | None = None, bank: str = "bank") -> None:
        operations.remove(self.shop.store, principal or self.shop.principal, bank, OperationId(operation_id))

    def view(self, operation_id: UUID) -> OperationView:
        """The operation as it is shown."""
        with self.shop.store.transaction(self.shop.tenant) as tx:
            bank = tx.banks.find("bank")
            assert bank is not None
            seen = tx.operations.view(bank.bank_id, operation_id, None, False)
        assert seen is not None
        return seen

    def children(self, parent: UUID | None) -> list[UUID]:
        """The operations under a parent, in order of submission."""
        assert parent is not None
        with self.shop.store.transaction(self.shop.tenant) as tx:
            return list(tx.operations.children(OperationId(parent)))

    def statuses(self) -> dict[str, list[str]]:
        """How operations stand, by kind, in order of submission."""
        found: dict[str, list[str]] = {}
        order = "(result ->> 'sub_batch_index')::int, operation_id"
        for row in self.shop.rows(f"SELECT kind, status FROM operations ORDER BY kind, created_at, {order}"):
            found.setdefault(row["kind"], []).append(row["status"])
        return found

    def let_time_pass(self) -> None:
        """As if every delay and every lease had run out."""
        self.shop.change(
            "UPDATE operations SET lease_until = '-infinity', due_at = least(due_at, now()) "
            "WHERE status IN ('pending', 'processing')"
        )
        self.shop.change("UPDATE documents SET lease_until = '-infinity'")

    def sweep(self) -> SweepReport:
        return sweep_once(self.shop.store, self.shop.wakeups, self.shop.settings)

    def after(self, calls: int, act: Callable[[], None]) -> Callable[[Any], Any]:
        """A script of the model that acts during its call of that number, and records each line of every chunk."""

        def script(call: Any) -> Any:
            if len(self.shop.model.calls) == calls:
                act()
            return one_fact_per_line(call)

        return script


@pytest.fixture
def desk(workshop: Workshop) -> Desk:
    return Desk(workshop)
