"""A bank of entities in Postgres, written and read as retain does, without the rest of retain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.entities import FactNames, Naming, resolve
from hindsight_aws.model.entity import name_key
from hindsight_aws.model.ids import BankId, TenantId, UnitId
from hindsight_aws.ports.entities import Mention
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import handler, module_store, owner_store
from tests.support.database import Database
from tests.support.entities import FLOOR
from tests.support.rows import SeesRows
from tests.support.units import Unit, insert_units, make_bank

__all__ = ["handler", "module_store", "owner_store"]


@dataclass
class Register(SeesRows):
    """One bank's entities."""

    database: Database
    tenant: TenantId
    store: PostgresStore
    bank_id: BankId

    def retain(self, *facts: FactNames) -> Naming:
        """Resolves the names of these facts, and in a transaction of its own writes facts that mention them."""
        naming = self.resolve(*facts)
        self.write(naming, *facts)
        return naming

    def resolve(self, *facts: FactNames) -> Naming:
        with self.store.transaction(self.tenant) as tx:
            return resolve(tx.entities, self.bank_id, facts, FLOOR)

    def write(self, naming: Naming, *facts: FactNames) -> None:
        self.mention(naming, self.units(*facts), *facts)

    def units(self, *facts: FactNames) -> list[Unit]:
        """Facts that mention nothing yet."""
        units = [Unit(f"fact {place}", occurred_start=fact.at) for place, fact in enumerate(facts)]
        insert_units(self.database.admin_url, self.tenant, self.bank_id, units)
        return units

    def mention(self, naming: Naming, units: Sequence[Unit], *facts: FactNames) -> None:
        mentions = [
            Mention(UnitId(unit.id), entity, fact.at)
            for unit, fact in zip(units, facts, strict=True)
            for entity in naming.of(fact.names)
        ]
        with self.store.transaction(self.tenant) as tx:
            tx.entities.mention(self.bank_id, mentions)

    def parts(self) -> set[frozenset[str]]:
        """The names of each entity, by their keys."""
        found = self.rows(
            "SELECT e.name_key, array(SELECT s.spelling_key FROM entity_spellings s WHERE s.entity_id = e.entity_id) "
            "AS also FROM entities e WHERE e.bank_id = %s",
            self.bank_id,
        )
        return {frozenset((row["name_key"], *row["also"])) for row in found}

    def entity(self, name: str) -> dict[str, Any]:
        """The row of the entity of this name."""
        return self.rows("SELECT * FROM entities WHERE bank_id = %s AND name_key = %s", self.bank_id, name_key(name))[0]

    def another_bank(self) -> Register:
        """An empty bank of the same tenant."""
        bank_id = make_bank(self.database.admin_url, self.tenant, f"bank-{uuid4()}")
        return Register(self.database, self.tenant, self.store, bank_id)


@pytest.fixture
def register(database: Database, tenant: TenantId, store: PostgresStore) -> Register:
    return Register(database, tenant, store, make_bank(database.admin_url, tenant, "names"))


def moment(day: int) -> datetime:
    """Noon of a day in March 2026, in a zone of its own."""
    return datetime.fromisoformat(f"2026-03-{day:02}T12:00:00+02:00")
