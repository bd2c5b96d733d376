"""A bank with one of everything in it, each text bearing a mark that must never turn up where it does not belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.operation import EXPORT_BANK
from hindsight_aws.model.trigger import Creator, creator_to_json
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.units import Unit, insert_units, make_bank

_HISTORY = [
    statement.encode()
    for statement in Path(__file__).with_name("seed_history.sql").read_text(encoding="utf-8").split(";\n")
]


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
    erasure: UUID
    knowledge_page: str
    knowledge_folder: str
    archive: str


def seed_bank(database: Database, tenant: TenantId, bank: str, mark: str, tags: Sequence[str] = ("user:a",)) -> Seeded:
    """A bank with a fact of a document, an observation and the run that made it, an entity, a finished operation.

    And with a directive, a mental model that is a page in a folder, a webhook that was told, an archive of the bank,
    and what is left of its use: pending work, links, history, a fact out of use, a sealed generation.
    """
    bank_id = make_bank(database.admin_url, tenant, bank)
    fact, observation, operation, run, directive, log, erasure = (uuid4() for _ in range(7))
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
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE banks SET name = %s WHERE bank_id = %s", (mark, bank_id))
        connection.execute(
            "UPDATE documents SET original_text = %s, text_length = %s, retain_params = %s WHERE bank_id = %s",
            (f"{mark} keeps bees.", len(mark) + 12, Jsonb({"parts": [_item(mark, tags)]}), bank_id),
        )
        connection.execute(
            "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, document_external_id) "
            "VALUES (%s, %s, %s, 'retain', 'completed', 'somebody', %s)",
            (tenant, bank_id, operation, document),
        )
        connection.execute(
            "INSERT INTO consolidation_runs (tenant_id, bank_id, run_id, scope_id, fence, policy_hash, prompt, "
            "model_id, status, started_at) SELECT tenant_id, bank_id, %s, scope_id, 1, '', 'consolidate@1', %s, "
            "'applied', now() FROM scopes WHERE bank_id = %s",
            (run, f"model of {mark}", bank_id),
        )
        connection.execute(
            "INSERT INTO directives (tenant_id, bank_id, directive_id, name, content, tags) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            (tenant, bank_id, directive, mark, f"Never name {mark}.", list(tags)),
        )
        connection.execute(
            "INSERT INTO bank_aliases (tenant_id, alias, bank_id, is_primary) VALUES (%s, %s, %s, true)",
            (tenant, f"alias-{mark}", bank_id),
        )
        connection.execute(
            "INSERT INTO audit_log (tenant_id, entry_id, bank_id, bank, action, transport, subject, status, "
            "started_at, ended_at) VALUES (%s, %s, %s, %s, 'retain', 'http', %s, 200, now(), now())",
            (tenant, log, bank_id, bank, mark),
        )
        _seed_page(connection, tenant, bank_id, observation, mark, tags)
        connection.execute(
            "INSERT INTO erasures (tenant_id, erasure_id, bank_id, bank, kind, tags, match, subject) "
            "VALUES (%s, %s, %s, %s, 'tags', %s, 'any', %s)",
            (tenant, erasure, bank_id, bank, [mark], mark),
        )
        _seed_history(
            connection,
            {"tenant": tenant, "bank": bank_id, "fact": fact, "observation": observation, "mark": mark},
        )
        webhook = _seed_webhook(connection, (tenant, bank_id), operation, mark)
        archive = _seed_archive(connection, (tenant, bank_id), mark)
        found = connection.execute("SELECT entity_id FROM entities WHERE bank_id = %s", (bank_id,)).fetchone()
    assert found is not None
    return Seeded(
        tenant,
        bank,
        bank_id,
        fact,
        observation,
        UUID(str(found[0])),
        operation,
        document,
        mark,
        run,
        directive,
        f"page-{mark}",
        webhook,
        log,
        erasure,
        f"kp-{mark}",
        f"kf-{mark}",
        archive,
    )


def _item(mark: str, tags: Sequence[str]) -> dict[str, object]:
    """The one item of the document, as retain keeps it."""
    return {
        "position": 0,
        "content": len(mark) + 12,
        "happened": None,
        "is_dated": False,
        "context": f"context {mark}",
        "metadata": {"k": mark},
        "entities": [],
        "tags": list(tags),
        "observation_scopes": None,
        "strategy": None,
    }


def _seed_webhook(
    connection: psycopg.Connection[tuple[object, ...]], place: tuple[TenantId, BankId], operation: UUID, mark: str
) -> UUID:
    webhook, event = uuid4(), uuid4()
    connection.execute(
        "INSERT INTO webhooks (tenant_id, bank_id, webhook_id, url, secret, event_types, method, timeout_seconds) "
        "VALUES (%s, %s, %s, %s, %s, '{retain.completed}', 'POST', 30)",
        (*place, webhook, f"https://example.com/{mark}", f"secret of {mark}"),
    )
    connection.execute(
        "INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status, data, fanned_out_at) "
        "VALUES (%s, %s, %s, 'retain.completed', %s, 'completed', %s, now())",
        (*place, event, operation, Jsonb({"document_id": f"doc/{mark}"})),
    )
    connection.execute(
        "INSERT INTO webhook_deliveries (tenant_id, bank_id, delivery_id, event_id, webhook_id, url, status, attempts) "
        "VALUES (%s, %s, gen_random_uuid(), %s, %s, %s, 'completed', 1)",
        (*place, event, webhook, f"https://example.com/{mark}"),
    )
    return webhook


def _seed_history(connection: psycopg.Connection[tuple[object, ...]], place: Mapping[str, object]) -> None:
    with connection.pipeline():
        for statement in _HISTORY:
            connection.execute(statement, place)


def _seed_archive(connection: psycopg.Connection[tuple[object, ...]], place: tuple[TenantId, BankId], mark: str) -> str:
    """An export of data that has ended; the key of its archive, under which whoever serves it puts what is in it."""
    tenant, bank_id = place
    operation = uuid4()
    key = f"tenants/{tenant}/banks/{bank_id}/transfers/{operation}.zip"
    held = {"storage_key": key, "filename": f"{mark}.zip", "counts": {"documents": 1}}
    connection.execute(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, status, subject, payload, result) "
        "VALUES (%s, %s, %s, %s, 'completed', 'somebody', %s, %s)",
        (*place, operation, EXPORT_BANK, Jsonb({}), Jsonb(held)),
    )
    connection.execute(
        "INSERT INTO transfers (tenant_id, bank_id, operation_id, archive_key, is_offered) "
        "VALUES (%s, %s, %s, %s, true)",
        (*place, operation, key),
    )
    return key


def _seed_page(
    connection: psycopg.Connection[tuple[object, ...]],
    tenant: TenantId,
    bank_id: BankId,
    observation: UUID,
    mark: str,
    tags: Sequence[str],
) -> None:
    at = (tenant, bank_id, uuid4())
    connection.execute(
        "INSERT INTO mental_models (tenant_id, bank_id, page_id, model_id, name, source_query, content, tags, "
        "max_tokens, creator, scope_types, version, last_refreshed_at) "
        "VALUES (%s, %s, %s, %s, %s, 'Who?', %s, %s, 2048, %s, '{world,experience,observation}', 1, now())",
        (*at, f"page-{mark}", mark, f"{mark} keeps bees.", list(tags), Jsonb(creator_to_json(Creator("somebody")))),
    )
    connection.execute(
        "INSERT INTO mental_model_revisions (tenant_id, bank_id, page_id, revision_id, kind, version, content) "
        "VALUES (%s, %s, %s, gen_random_uuid(), 'version', 0, %s)",
        (*at, f"{mark} kept wasps."),
    )
    connection.execute(
        "INSERT INTO mental_model_citations (tenant_id, bank_id, page_id, version, cited_id, memory_id, kind, text) "
        "VALUES (%s, %s, %s, 1, %s, %s, 'observation', %s)",
        (*at, observation, observation, f"{mark} is a beekeeper."),
    )
    connection.execute(
        "INSERT INTO knowledge_pages (tenant_id, bank_id, node_id, kind, name, named_by) "
        "VALUES (%s, %s, %s, 'folder', %s, %s)",
        (tenant, bank_id, f"kf-{mark}", f"Folder of {mark}", Jsonb(creator_to_json(Creator("somebody")))),
    )
    connection.execute(
        "INSERT INTO knowledge_pages (tenant_id, bank_id, page_id, node_id, parent_id, kind, name) "
        "VALUES (%s, %s, %s, %s, %s, 'page', %s)",
        (*at, f"kp-{mark}", f"kf-{mark}", mark),
    )


def fingerprint(database: Database, tenant: UUID) -> dict[str, tuple[int, str | None]]:
    """Every table's row count and content digest for one tenant, as the superuser sees them.

    But for when its keys were last used: that a call was made is all that it says, and a refused one was made as well.
    """
    with admin(database.admin_url) as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid WHERE c.relkind = 'r' "
            "AND c.relnamespace = 'hindsight'::regnamespace AND a.attname = 'tenant_id' "
            "AND c.relname <> 'key_uses' ORDER BY c.relname"
        ).fetchall()
        each = " UNION ALL ".join(
            f"SELECT '{table}', count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) "
            f"FROM hindsight.{table} AS t WHERE t.tenant_id = %(tenant)s"
            for (table,) in tables
        )
        found = connection.cursor(row_factory=args_row(_held)).execute(each.encode(), {"tenant": tenant}).fetchall()
    return dict(found)


def _held(table: str, rows: int, digest: str | None) -> tuple[str, tuple[int, str | None]]:
    return table, (rows, digest)
