"""A bank in which scopes are drained by a scripted model, on a real database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from hindsight_aws.consolidate.drain import Drained, drain
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.model.ids import ScopeId, TenantId, UnitId
from hindsight_aws.model.scope import Scope, ScopeAddress
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.models import Answer, HashEmbedder, NotedWakeups, ScriptedModel, in_turn
from tests.support.units import Unit, insert_units, make_bank


class StillClock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.time = datetime(2031, 5, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


class Workshop:
    """One tenant's bank with facts and pending work, and everything a drain needs."""

    def __init__(self, database: Database, tenant: TenantId, store: PostgresStore, **settings: object) -> None:
        self.database, self.tenant, self.store = database, tenant, store
        self.bank_id = make_bank(database.admin_url, tenant)
        self.model = ScriptedModel()
        self.embedder = HashEmbedder()
        self.wakeups = NotedWakeups()
        self.rows: psycopg.Connection[DictRow] | None = None
        self.clock = StillClock()
        self.settings = Settings(hindsight_environment="local", **settings)  # type: ignore[arg-type]  # test's own names

    @property
    def ports(self) -> ConsolidationPorts:
        return ConsolidationPorts(self.store, self.embedder, self.model, self.wakeups, self.clock, self.settings)

    def configure(self, **overrides: object) -> None:
        """Sets the bank's own settings."""
        self.sql("UPDATE banks SET config = %s WHERE bank_id = %s", Jsonb(overrides), self.bank_id)

    def remember(
        self, *texts: str, tags: Sequence[str] = (), scopes: Sequence[Sequence[str]] | None = None
    ) -> list[UUID]:
        """Stores facts with pending work in `scopes` (default: their tags); returns their ids."""
        units = [Unit(text, vector=self.embedder.vector(text), tags=tuple(tags)) for text in texts]
        insert_units(self.database.admin_url, self.tenant, self.bank_id, units)
        wanted = [Scope.of(scope) for scope in (scopes if scopes is not None else [tags])]
        with self.store.transaction(self.tenant) as tx:
            tx.scopes.open_work(self.bank_id, {UnitId(unit.id): wanted for unit in units})
        return [unit.id for unit in units]

    def scope(self, *tags: str) -> ScopeId:
        with self.store.transaction(self.tenant) as tx:
            return tx.scopes.ids(self.bank_id, [Scope.of(tags)])[0]

    def answers(self, *answers: Answer, judge: Sequence[Answer] = ()) -> None:
        """What the model answers from now on."""
        self.model = ScriptedModel(in_turn({"consolidate": answers, "judge_duplicate": judge}))

    def drain(self, *tags: str, seconds: float = 900.0) -> Drained:
        where = ScopeAddress(self.tenant, self.bank_id, self.scope(*tags))
        return drain(self.ports, where, lambda: seconds)

    def drain_elsewhere(self, store: PostgresStore, *tags: str) -> Drained:
        """The same by another worker, on connections of its own."""
        mine, self.store = self.store, store
        try:
            return self.drain(*tags)
        finally:
            self.store = mine

    @contextmanager
    def watching(self) -> Iterator[psycopg.Connection[DictRow]]:
        """A connection past every policy, for the invariants."""
        with psycopg.connect(self.database.admin_url, row_factory=dict_row, autocommit=True) as watcher:
            watcher.execute("SET search_path = hindsight, public")
            yield watcher

    def observations(self, *tags: str) -> list[dict[str, Any]]:
        """Observations of the exact scope, oldest first, each with its evidence as {fact: (quote, origin)}."""
        return self.sql(
            "SELECT o.*, (SELECT coalesce(jsonb_object_agg(e.fact_id, jsonb_build_array(e.quote, e.origin)), '{}') "
            "FROM observation_evidence e WHERE e.observation_id = o.id) AS evidence FROM memory_units o "
            "WHERE bank_id = %s AND fact_type = 'observation' AND scope_id = %s ORDER BY created_at, text",
            self.bank_id,
            self.scope(*tags),
        )

    def work(self) -> dict[UUID, list[tuple[str, str | None]]]:
        """State and outcome of every work row by fact."""
        found: dict[UUID, list[tuple[str, str | None]]] = {}
        for row in self.sql(
            "SELECT fact_id, state, outcome FROM consolidation_work WHERE bank_id = %s ORDER BY scope_id", self.bank_id
        ):
            found.setdefault(row["fact_id"], []).append((row["state"], row["outcome"]))
        return found

    def sql(self, statement: str, *params: object) -> list[dict[str, Any]]:
        """Runs a statement past every policy."""
        if self.rows is not None:
            cursor = self.rows.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []
        with admin(self.database.admin_url) as connection:
            cursor = connection.cursor(row_factory=dict_row).execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []


def creates(*entries: tuple[str, Sequence[UUID]], quotes: dict[UUID, str] | None = None) -> JsonObject:
    """An answer that creates observations."""
    return {
        "creates": [
            {
                "text": text,
                "source_fact_ids": [str(i) for i in ids],
                "quotes": [{"fact_id": str(i), "quote": quote} for i, quote in (quotes or {}).items()],
            }
            for text, ids in entries
        ]
    }


def updates(observation_id: UUID, text: str, ids: Sequence[UUID]) -> JsonObject:
    """An answer that rewrites one observation."""
    return {
        "updates": [{"observation_id": str(observation_id), "text": text, "source_fact_ids": [str(i) for i in ids]}]
    }
