"""A bank whose facts are written straight into the tables, and linked, tended and removed through the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from hindsight_aws.links.maintain import Maintained, maintain
from hindsight_aws.links.ports import LinkPorts
from hindsight_aws.model.ids import BankId, TenantId, UnitId
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.models import NotedWakeups
from tests.support.rows import SeesRows
from tests.support.units import Unit, insert_units, make_bank

NOON = datetime(2031, 5, 4, 12, tzinfo=UTC)


@dataclass
class Web(SeesRows):
    """One bank and what happens to its links."""

    database: Database
    tenant: TenantId
    bank_id: BankId
    store: PostgresStore
    wakeups: NotedWakeups = field(default_factory=NotedWakeups)
    settings: Settings = field(default_factory=Settings)
    twins: list[Web] = field(default_factory=list)

    @property
    def ports(self) -> LinkPorts:
        return LinkPorts(self.store, self.wakeups, self.settings)

    def open_twin(self) -> Web:
        """The same bank seen from another process: a connection of its own, closed with this one."""
        twin = replace(self, store=PostgresStore(lambda: self.database.write_url, connect_for_s=30.0), twins=[])
        self.twins.append(twin)
        return twin

    def insert(self, *units: Unit) -> list[UnitId]:
        """Puts facts there, without links."""
        insert_units(self.database.admin_url, self.tenant, self.bank_id, units)
        self.change("UPDATE memory_units SET event_date = coalesce(occurred_start, mentioned_at)")
        return [UnitId(unit.id) for unit in units]

    def link(self, ids: Sequence[UnitId]) -> None:
        """Links these facts as maintenance does."""
        self.queue(*ids)
        self.maintain()

    def queue(self, *ids: UUID, kind: str = "fact") -> None:
        self.change(
            "INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id) "
            "SELECT %s, %s, %s, unnest(%s::uuid[])", self.tenant, self.bank_id, kind, list(ids),
        )  # fmt: skip

    def cause(self, effect: UnitId, cause: UnitId) -> None:
        """Makes one fact the cause of another, as extraction does."""
        self.change(
            "INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type) "
            "VALUES (%s, %s, %s, %s, 'caused_by')", self.tenant, self.bank_id, effect, cause,
        )  # fmt: skip

    def archive(self) -> None:
        """Copies every fact into the archive, as invalidating it does before it is removed."""
        self.change(
            "INSERT INTO invalidated_memory_units "
            "(tenant_id, bank_id, id, fact_type, document_id, text, version, entity_ids, created_at, updated_at) "
            "SELECT u.tenant_id, u.bank_id, u.id, u.fact_type, u.document_id, u.text, 1, "
            "ARRAY(SELECT x.entity_id FROM unit_entities x WHERE x.unit_id = u.id), now(), now() FROM memory_units u"
        )

    def maintain(self, seconds_left: Callable[[], float] = lambda: 300.0) -> Maintained:
        return maintain(self.ports, self.tenant, self.bank_id, seconds_left)

    def remove(self, *ids: UnitId) -> None:
        with self.store.transaction(self.tenant) as tx:
            tx.memories.remove(self.bank_id, ids)

    def neighbours(self, unit_id: UUID, kind: str) -> dict[UUID, float]:
        """Weights of the fact's links of a kind by the other end, from whichever end they are stored."""
        rows = self.rows(
            "SELECT CASE WHEN from_unit = %s THEN to_unit ELSE from_unit END AS other, weight FROM memory_links "
            "WHERE link_type = %s AND %s IN (from_unit, to_unit)", unit_id, kind, unit_id,
        )  # fmt: skip
        assert len({row["other"] for row in rows}) == len(rows), "a pair is there twice"
        return {row["other"]: row["weight"] for row in rows}

    def queued(self) -> dict[str, set[UUID]]:
        """What waits, by kind."""
        waiting: dict[str, set[UUID]] = {}
        for row in self.rows("SELECT kind, item_id FROM link_maintenance"):
            waiting.setdefault(row["kind"], set()).add(row["item_id"])
        return waiting

    def entities(self) -> set[str]:
        """The names of the entities that are there."""
        return {row["canonical_name"] for row in self.rows("SELECT canonical_name FROM entities")}


def at(hours: float, text: str = "", **fields: Any) -> Unit:
    """A fact of an event that many hours after noon."""
    return Unit(text or f"It happened {hours} hours later", occurred_start=NOON + timedelta(hours=hours), **fields)


def towards(cosine: float, **fields: Any) -> Unit:
    """A fact without a date, whose vector has this cosine to that of `towards(1.0)`."""
    return Unit(f"As near as {cosine}", vector=[cosine, (1 - cosine**2) ** 0.5], **fields)


@pytest.fixture
def web(database: Database, tenant: TenantId, store: PostgresStore) -> Iterator[Web]:
    made = Web(database, tenant, make_bank(database.admin_url, tenant), store)
    yield made
    for twin in made.twins:
        twin.store.close()


@pytest.fixture
def twin(web: Web) -> Web:
    """A second worker on the same bank."""
    return web.open_twin()


def new_id() -> UnitId:
    return UnitId(uuid4())
