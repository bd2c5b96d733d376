"""A bank with facts of its own making, and somebody at a desk who corrects them through the API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.curation import CurationPorts
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.api import UNSET, Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.invariants import broken
from tests.support.models import fact

BANK = "/v1/default/banks/desk"


@dataclass
class Desk:
    """What a test asks of the bank, and how it looks underneath."""

    database: Database
    tenant: TenantId
    services: FakeRuntime
    call: Caller
    twins: list[PostgresStore] = field(default_factory=list)

    def retain(self, *facts: JsonObject, **item: JsonValue) -> dict[str, str]:
        """Stores these facts as one document's; the ids by the texts."""
        self.services.model.script = lambda _call: {"facts": list(facts)}
        body = {"items": [{"content": "a letter", "document_id": "letter", **item}]}
        answer = self.call("POST", f"{BANK}/memories", body)
        assert answer.status == 200, answer.body
        return {row["text"]: str(row["id"]) for row in self.rows("SELECT id, text FROM memory_units")}

    def twin(self) -> CurationPorts:
        """Curation in another process: on a connection of its own, closed with the desk."""
        store = PostgresStore(lambda: self.database.write_url, connect_for_s=30.0)
        self.twins.append(store)
        return make_services(store, self.tenant).curation_ports

    def patch(self, memory_id: str, **fields: JsonValue) -> Answer:
        return self.call("PATCH", f"{BANK}/memories/{memory_id}", fields)

    def get(self, path: str) -> Any:
        return self.call("GET", f"{BANK}{path}").json()

    def delete(self, path: str) -> Answer:
        return self.call("DELETE", f"{BANK}{path}", UNSET)

    def observe(self, text: str, *fact_ids: str) -> str:
        """An observation of the untagged scope that rests on these facts, its work done."""
        (row,) = self.rows("SELECT tenant_id, bank_id, gen_random_uuid() AS id FROM banks")
        scope = self.rows("SELECT scope_id FROM scopes WHERE tags = '{}'")[0]["scope_id"]
        own = {**row, "scope": scope, "text": text, "facts": list(fact_ids)}
        self.change(
            "INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, scope_id, terms) "
            "VALUES (%(tenant_id)s, %(bank_id)s, %(id)s, 'observation', %(text)s, %(scope)s, 3)",
            own,
        )
        self.change(
            "INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin) "
            "SELECT tenant_id, bank_id, %(id)s, id, text, 'whole' FROM memory_units WHERE id = ANY(%(facts)s::uuid[])",
            own,
        )
        self.change(
            "WITH r AS (INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, "
            "kind, text, tags, evidence) SELECT %(tenant_id)s, %(bank_id)s, gen_random_uuid(), %(id)s, %(scope)s, "
            "'create', %(text)s, '{}', (SELECT jsonb_agg(jsonb_build_object('fact_id', f, 'quote', 'q', 'origin', "
            "'whole')) FROM unnest(%(facts)s::uuid[]) AS f) RETURNING *) "
            "INSERT INTO revision_facts "
            "SELECT tenant_id, bank_id, f, revision_id FROM r, unnest(%(facts)s::uuid[]) AS f",
            own,
        )
        self.change(
            "INSERT INTO bank_counters AS c VALUES (%(tenant_id)s, %(bank_id)s, 'observation', 0, 1, 3) "
            "ON CONFLICT (tenant_id, bank_id, fact_type, shard) DO UPDATE SET units = c.units + 1, terms = c.terms + 3",
            own,
        )
        self.change(
            "UPDATE consolidation_work SET state = 'done', outcome = 'created', done_at = now() "
            "WHERE fact_id = ANY(%(facts)s::uuid[])",
            own,
        )
        return str(row["id"])

    def pending(self) -> set[str]:
        """Texts of the facts that wait in some scope."""
        query = (
            "SELECT f.text FROM consolidation_work w JOIN memory_units f ON f.id = w.fact_id WHERE w.state = 'pending'"
        )
        return {row["text"] for row in self.rows(query)}

    def unbroken(self) -> bool:
        """Whether all holds that must hold of a bank at rest."""
        with psycopg.connect(self.database.admin_url, row_factory=dict_row) as admin:
            admin.execute("SET search_path = hindsight, public")
            return broken(admin, [row["bank_id"] for row in self.rows("SELECT bank_id FROM banks")]) == []

    def rows(self, query: str, params: Any = ()) -> list[dict[str, Any]]:
        """Rows as the superuser sees them."""
        with admin(self.database.admin_url) as connection:
            return connection.cursor(row_factory=dict_row).execute(query.encode(), params).fetchall()

    def change(self, statement: str, params: Any = ()) -> None:
        """Changes rows behind the product's back."""
        with admin(self.database.admin_url) as connection:
            connection.execute(statement.encode(), params)


@pytest.fixture
def desk(database: Database, tenant: TenantId, store: PostgresStore) -> Iterator[Desk]:
    services = make_services(store, tenant)
    desk = Desk(database, tenant, services, make_caller(services))
    yield desk
    for twin in desk.twins:
        twin.close()


def chain(*texts: str, entities: Sequence[str] = ()) -> list[JsonObject]:
    """Facts of which each is the cause of the next."""
    named: list[JsonValue] = [{"text": name} for name in entities]
    first, *others = texts
    return [
        fact(first, entities=named),
        *(fact(text, entities=named, caused_by=[at]) for at, text in enumerate(others)),
    ]


def says(text: str) -> JsonObject:
    """A fact and nothing more."""
    return fact(text)
