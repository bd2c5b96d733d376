"""A bank with one of everything in it, each text bearing a mark that must never turn up where it does not belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg

from hindsight_aws.model.ids import BankId, TenantId
from tests.support.database import Database
from tests.support.units import Unit, insert_units, make_bank


@dataclass(frozen=True, slots=True)
class Seeded:
    """The ids of a seeded bank."""

    tenant: TenantId
    bank: str
    bank_id: BankId
    fact: UUID
    observation: UUID
    entity: UUID
    operation: UUID
    document: str
    mark: str
    run: UUID


def seed_bank(database: Database, tenant: TenantId, bank: str, mark: str, tags: Sequence[str] = ("user:a",)) -> Seeded:
    """A bank with a fact of a document, an observation and the run that made it, an entity, a finished operation."""
    bank_id = make_bank(database.admin_url, tenant, bank)
    fact, observation, operation, run = uuid4(), uuid4(), uuid4(), uuid4()
    document = f"doc/{mark}"
    insert_units(
        database.admin_url,
        tenant,
        bank_id,
        [
            Unit(
                f"{mark} keeps bees.", id=fact, tags=tuple(tags), document=document, chunk_index=0, entities=(mark,),
                metadata={"k": mark}, context=f"context {mark}", vector=[1.0],
            ),
            Unit(
                f"{mark} is a beekeeper.", "observation", observation, tags=tuple(tags), sources=(fact,), vector=[1.0]
            ),
        ],
    )  # fmt: skip
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        admin.execute("UPDATE banks SET name = %s WHERE bank_id = %s", (mark, bank_id))
        admin.execute(
            "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, document_external_id) "
            "VALUES (%s, %s, %s, 'retain', 'completed', 'somebody', %s)",
            (tenant, bank_id, operation, document),
        )
        admin.execute(
            "INSERT INTO consolidation_runs (tenant_id, bank_id, run_id, scope_id, fence, policy_hash, prompt, "
            "model_id, status, started_at) SELECT tenant_id, bank_id, %s, scope_id, 1, '', 'consolidate@1', %s, "
            "'applied', now() FROM scopes WHERE bank_id = %s",
            (run, f"model of {mark}", bank_id),
        )
        found = admin.execute("SELECT entity_id FROM entities WHERE bank_id = %s", (bank_id,)).fetchone()
    assert found is not None
    return Seeded(tenant, bank, bank_id, fact, observation, found[0], operation, document, mark, run)


def fingerprint(database: Database, tenant: UUID) -> dict[str, tuple[int, str | None]]:
    """Every table's row count and content digest for one tenant, as the superuser sees them."""
    with psycopg.connect(database.admin_url) as admin:
        tables = admin.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'"
        ).fetchall()
        each = " UNION ALL ".join(
            f"SELECT '{table}', count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) "
            f"FROM hindsight.{table} AS t WHERE t.tenant_id = %(tenant)s"
            for (table,) in tables
        )
        return {table: (rows, digest) for table, rows, digest in admin.execute(each.encode(), {"tenant": tenant})}
