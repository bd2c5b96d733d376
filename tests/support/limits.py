"""A tenant with limits, and a clock whose days a test turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.limits import Parking
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.store import DueBy
from hindsight_aws.retain import RetainPorts
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.models import HashEmbedder, NotedWakeups, ScriptedModel


@dataclass(slots=True)
class TurnedClock:
    """The machine's clock, as many days further as a test turned it, and as much `ahead`."""

    days: int = 0
    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self.days) + self.ahead


@dataclass(frozen=True, slots=True)
class StandingClock:
    """Stands in the middle of a minute, so that none ends, and nothing grows old, while a test counts."""

    moment: datetime = field(default_factory=lambda: datetime.now(UTC).replace(second=30, microsecond=0))

    def now(self) -> datetime:
        return self.moment


@dataclass(slots=True)
class Customer:
    """A tenant, its models, and what its ledger and its rows say."""

    database: Database
    tenant: TenantId
    store: PostgresStore
    model: ScriptedModel = field(default_factory=ScriptedModel)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    wakeups: NotedWakeups = field(default_factory=NotedWakeups)
    clock: TurnedClock = field(default_factory=TurnedClock)
    settings: Settings = field(default_factory=lambda: Settings(hindsight_environment="local"))

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant, "tester")

    @property
    def retains(self) -> RetainPorts:
        return RetainPorts(self.store, self.embedder, self.model, self.wakeups, self.clock, self.settings)

    @property
    def consolidates(self) -> ConsolidationPorts:
        return ConsolidationPorts(self.store, self.embedder, self.model, self.wakeups, self.clock, self.settings)

    def limit(self, **caps: object) -> None:
        """Sets limits past the product, which leaves what is parked parked."""
        self.sql("DELETE FROM tenant_limits WHERE tenant_id = %s", self.tenant)
        for name, cap in caps.items():
            self.sql("INSERT INTO tenant_limits (tenant_id) VALUES (%s) ON CONFLICT DO NOTHING", self.tenant)
            self.sql(f"UPDATE tenant_limits SET {name} = %s WHERE tenant_id = %s", cap, self.tenant)

    def spend(self, usd: str | None, tokens: int = 0, bank_id: BankId | None = None) -> None:
        """A call of today in the ledger."""
        self.sql(
            "INSERT INTO usage_ledger (tenant_id, entry_id, bank_id, task, model_id, status, input_tokens, usd) "
            "VALUES (%s, %s, %s, 'extract_facts', 'm', 'ok', %s, %s)",
            self.tenant, uuid4(), bank_id, tokens, usd,
        )  # fmt: skip

    def parking(self) -> Parking | None:
        with self.store.transaction(self.tenant) as tx:
            return tx.limits.standing(self.clock.now()).parking

    def due(self, at_most: int = 100) -> list[tuple[str, TenantId]]:
        """Kinds of work that are due at the clock's time, with whose they are."""
        asked = DueBy(observations=True, auto_consolidation=True, moment=self.clock.now())
        return [(work.kind, work.tenant_id) for work in self.store.due_work(at_most, asked)]

    def sql(self, statement: str, *params: object) -> list[tuple[Any, ...]]:
        """Runs a statement past every policy."""
        with admin(self.database.admin_url) as connection:
            cursor = connection.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []

    def alerts(self) -> list[tuple[str, Decimal]]:
        return [(row[0], row[1]) for row in self.sql("SELECT limit_name, share FROM limit_alerts ORDER BY 1, 2")]
