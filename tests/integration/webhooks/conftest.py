"""A bank with a hook, and the two sides of a delivery with messages that are noted down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from hindsight_aws.egress import GuardedOutbound
from hindsight_aws.jobs.deliver import deliver
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.send import send
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import RETAIN_COMPLETED, HttpConfig, WebhookEvent
from hindsight_aws.ports.webhooks import NewWebhook
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.webhooks.check import rules_of
from hindsight_aws.webhooks.ports import DeliverPorts, SendPorts
from tests.support.admin import admin
from tests.support.api import call, services
from tests.support.database import Database
from tests.support.models import NotedWakeups
from tests.support.receiver import NotedMessages, Receiver, receiving
from tests.support.units import make_bank

__all__ = ["call", "services"]

SECRET = "only the two of us"


@dataclass
class Clock:
    """A clock that is set."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Post:
    """A tenant's bank, and both sides of its deliveries in this process."""

    database: Database
    store: PostgresStore
    tenant: TenantId
    bank: BankId
    settings: Settings
    wakeups: NotedWakeups = field(default_factory=NotedWakeups)
    messages: NotedMessages = field(default_factory=NotedMessages)
    clock: Clock = field(default_factory=Clock)

    @property
    def deliver_ports(self) -> DeliverPorts:
        return DeliverPorts(self.store, self.wakeups, self.messages, self.clock, self.settings)

    def hook(self, url: str = "https://example.com/h", **changed: Any) -> UUID:
        values = {
            "secret": SECRET, "event_types": (RETAIN_COMPLETED,), "is_enabled": True, "http": HttpConfig(), **changed,
        }  # fmt: skip
        webhook_id = uuid4()
        with self.store.transaction(self.tenant) as tx:
            assert tx.webhooks.add(self.bank, webhook_id, NewWebhook(url, **values), 50) is not None
        return webhook_id

    def tell(self, times: int = 1, event: str = RETAIN_COMPLETED) -> bool:
        """Writes events down, as a retain that ends does."""
        is_heard = False
        for _ in range(times):
            operation = uuid4()
            self.sql(
                "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject) "
                "VALUES (%s, %s, %s, 'retain', 'completed', 'somebody')",
                self.tenant, self.bank, operation,
            )  # fmt: skip
            with self.store.transaction(self.tenant) as tx:
                is_heard = tx.webhooks.tell(self.bank, [WebhookEvent(event, operation, "completed", {"n": 1})])
        return is_heard

    def fan_out(self, ports: DeliverPorts | None = None) -> Outcome:
        return deliver(ports or self.deliver_ports, self.message("events"))

    def message(self, kind: str, **ids: object) -> str:
        """A message as the wake-ups send it."""
        parts = {"kind": kind, "tenant_id": self.tenant, "bank_id": self.bank, **ids}
        inside = ", ".join(f'"{name}": "{value}"' for name, value in parts.items())
        return f"{{{inside}}}"

    def send_all(self) -> None:
        """Makes the requests of all orders, and has all receipts read."""
        ports = SendPorts(GuardedOutbound(rules_of(self.settings)), self.messages, self.clock)
        orders, self.messages.orders = self.messages.orders, []
        for order in orders:
            assert send(ports, order) is Outcome.DONE
        receipts, self.messages.receipts = self.messages.receipts, []
        for receipt in receipts:
            assert deliver(self.deliver_ports, receipt) is Outcome.DONE

    def try_due(self) -> None:
        """Makes all that waits due, and has it tried."""
        self.sql("UPDATE webhook_deliveries SET due_at = now() WHERE status = 'pending'")
        for row in self.rows("WHERE status = 'pending'"):
            deliver(self.deliver_ports, self.message("delivery", delivery_id=row["delivery_id"]))
        self.send_all()

    def try_due_without_answer(self) -> None:
        """Has all that is due handed over, and whoever should send it die."""
        for row in self.rows("WHERE status = 'pending'"):
            deliver(self.deliver_ports, self.message("delivery", delivery_id=row["delivery_id"]))

    def send_all_refused(self) -> None:
        """Has receipts read as if every receiver had refused, without calling one."""
        self._answer_all(500)

    def send_all_taken(self) -> None:
        """Has receipts read as if every receiver had said yes; the orders are over."""
        self._answer_all(200)
        self.messages.orders.clear()

    def _answer_all(self, status: int) -> None:
        for order in self.messages.orders:
            said = json.loads(order)
            receipt = {"kind": "receipt", "status": status, "error": None, **said}
            assert deliver(self.deliver_ports, json.dumps(receipt)) is Outcome.DONE

    def rows(self, where: str = "") -> list[dict[str, Any]]:
        columns = (
            "delivery_id, event_id, webhook_id, url, status, attempts, due_at, updated_at, last_status, last_error"
        )
        return self.sql(f"SELECT {columns} FROM webhook_deliveries {where} ORDER BY created_at, delivery_id")

    def sql(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with admin(self.database.admin_url) as connection:
            cursor = connection.execute(statement.encode(), values)
            if cursor.description is None:
                return []
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.fixture
def post(database: Database, store: PostgresStore, tenant: TenantId) -> Post:
    settings = Settings(hindsight_environment="local", hindsight_api_webhook_allowed_hosts=("127.0.0.1",))
    return Post(database, store, tenant, make_bank(database.admin_url, tenant), settings)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made
