"""A bank with one of everything in it, each text bearing a mark that must never turn up where it does not belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.trigger import Creator, creator_to_json
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
    directive: UUID
    mental_model: str
    webhook: UUID
    log: UUID


def seed_bank(database: Database, tenant: TenantId, bank: str, mark: str, tags: Sequence[str] = ("user:a",)) -> Seeded:
    """A bank with a fact of a document, an observation and the run that made it, an entity, a finished operation.

    And with a directive, a mental model, and a webhook that was told.
    """
    bank_id = make_bank(database.admin_url, tenant, bank)
    fact, observation, operation, run, directive, log = uuid4(), uuid4(), uuid4(), uuid4(), uuid4(), uuid4()
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
        admin.execute(
            "INSERT INTO directives (tenant_id, bank_id, directive_id, name, content, tags) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            (tenant, bank_id, directive, mark, f"Never name {mark}.", list(tags)),
        )
        admin.execute(
            "INSERT INTO bank_aliases (tenant_id, alias, bank_id, is_primary) VALUES (%s, %s, %s, true)",
            (tenant, f"alias-{mark}", bank_id),
        )
        admin.execute(
            "INSERT INTO audit_log (tenant_id, entry_id, bank_id, bank, action, transport, subject, status, "
            "started_at, ended_at) VALUES (%s, %s, %s, %s, 'retain', 'http', %s, 200, now(), now())",
            (tenant, log, bank_id, bank, mark),
        )
        _seed_page(admin, tenant, bank_id, observation, mark, tags)
        webhook = _seed_webhook(admin, (tenant, bank_id), operation, mark)
        found = admin.execute("SELECT entity_id FROM entities WHERE bank_id = %s", (bank_id,)).fetchone()
    assert found is not None
    return Seeded(
        tenant,
        bank,
        bank_id,
        fact,
        observation,
        found[0],
        operation,
        document,
        mark,
        run,
        directive,
        f"page-{mark}",
        webhook,
        log,
    )


def _seed_webhook(
    admin: psycopg.Connection[tuple[object, ...]], place: tuple[TenantId, BankId], operation: UUID, mark: str
) -> UUID:
    webhook, event = uuid4(), uuid4()
    admin.execute(
        "INSERT INTO webhooks (tenant_id, bank_id, webhook_id, url, secret, event_types, method, timeout_seconds) "
        "VALUES (%s, %s, %s, %s, %s, '{retain.completed}', 'POST', 30)",
        (*place, webhook, f"https://example.com/{mark}", f"secret of {mark}"),
    )
    admin.execute(
        "INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status, data, fanned_out_at) "
        "VALUES (%s, %s, %s, 'retain.completed', %s, 'completed', %s, now())",
        (*place, event, operation, Jsonb({"document_id": f"doc/{mark}"})),
    )
    admin.execute(
        "INSERT INTO webhook_deliveries (tenant_id, bank_id, delivery_id, event_id, webhook_id, url, status, attempts) "
        "VALUES (%s, %s, gen_random_uuid(), %s, %s, %s, 'completed', 1)",
        (*place, event, webhook, f"https://example.com/{mark}"),
    )
    return webhook


def _seed_page(
    admin: psycopg.Connection[tuple[object, ...]],
    tenant: TenantId,
    bank_id: BankId,
    observation: UUID,
    mark: str,
    tags: Sequence[str],
) -> None:
    at = (tenant, bank_id, uuid4())
    admin.execute(
        "INSERT INTO mental_models (tenant_id, bank_id, page_id, model_id, name, source_query, content, tags, "
        "max_tokens, creator, scope_types, version, last_refreshed_at) "
        "VALUES (%s, %s, %s, %s, %s, 'Who?', %s, %s, 2048, %s, '{world,experience,observation}', 1, now())",
        (*at, f"page-{mark}", mark, f"{mark} keeps bees.", list(tags), Jsonb(creator_to_json(Creator("somebody")))),
    )
    admin.execute(
        "INSERT INTO mental_model_revisions (tenant_id, bank_id, page_id, revision_id, kind, version, content) "
        "VALUES (%s, %s, %s, gen_random_uuid(), 'version', 0, %s)",
        (*at, f"{mark} kept wasps."),
    )
    admin.execute(
        "INSERT INTO mental_model_citations (tenant_id, bank_id, page_id, version, cited_id, memory_id, kind, text) "
        "VALUES (%s, %s, %s, 1, %s, %s, 'observation', %s)",
        (*at, observation, observation, f"{mark} is a beekeeper."),
    )


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
