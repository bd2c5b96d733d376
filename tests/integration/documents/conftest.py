"""Documents over a real database: retained by scripted models, observed by hand, changed by the use cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from hindsight_aws.documents import DocumentPatch, DocumentPorts, delete_document, patch_document, reprocess_document
from hindsight_aws.documents.delete import Deleted
from hindsight_aws.documents.reprocess import Reprocessing
from hindsight_aws.model.ids import TenantId
from hindsight_aws.retain import RetainItem
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.retain.conftest import Workshop
from tests.support.admin import admin
from tests.support.database import Database

_OBSERVATION = """
WITH seen AS (
    SELECT w.tenant_id, w.bank_id, w.scope_id, s.tags
    FROM consolidation_work w JOIN scopes s USING (tenant_id, bank_id, scope_id)
    WHERE w.fact_id = %(first)s AND (%(tags)s::text[] IS NULL OR s.tags = %(tags)s::text[])
    LIMIT 1
), made AS (
    INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, tags, scope_id)
    SELECT tenant_id, bank_id, %(id)s, 'observation', %(text)s, tags, scope_id FROM seen
), revised AS (
    INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags)
    SELECT tenant_id, bank_id, %(revision)s, %(id)s, scope_id, 'create', %(text)s, tags FROM seen
)
UPDATE consolidation_work w SET state = 'done', outcome = 'created', done_at = now() FROM seen
WHERE w.fact_id = ANY (%(facts)s) AND w.scope_id = seen.scope_id
"""
_EVIDENCE = """
INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin)
SELECT tenant_id, bank_id, %(id)s, id, text, 'whole' FROM memory_units WHERE id = ANY (%(facts)s)
"""
_RESTED = """
INSERT INTO revision_facts (tenant_id, bank_id, fact_id, revision_id)
SELECT tenant_id, bank_id, id, %(revision)s FROM memory_units WHERE id = ANY (%(facts)s)
"""
_FACTS = """
SELECT u.id, u.text, u.tags, u.metadata, u.context, u.chunk_index, u.ordinal, u.mentioned_at, u.updated_at, u.version,
       u.observation_scopes
FROM memory_units u JOIN documents d USING (tenant_id, bank_id, document_id)
WHERE d.external_id = %s ORDER BY u.chunk_index, u.ordinal
"""


class Shelf(Workshop):
    """A workshop whose documents are looked at and changed."""

    @property
    def changes(self) -> DocumentPorts:
        return DocumentPorts(self.store, self.wakeups, self.settings)

    def configure_bank(self, **overrides: object) -> None:
        """Settings of the bank, which is made if need be."""
        with self.store.transaction(self.tenant) as tx:
            bank = tx.banks.create_if_missing("bank")
            tx.banks.save(bank.bank_id, None, overrides)

    def delete(self, document: str) -> Deleted:
        return delete_document(self.changes, self.principal, "bank", document)

    def patch(self, document: str, **changes: Any) -> None:
        patch_document(self.changes, self.principal, "bank", document, DocumentPatch(**changes))

    def reprocess(self, document: str) -> Reprocessing:
        return reprocess_document(self.changes, self.principal, "bank", document)

    def facts(self, document: str) -> list[dict[str, Any]]:
        """The document's facts in order."""
        return self.rows(_FACTS, document)

    def fact_texts(self, document: str) -> list[str]:
        """Their texts."""
        return [row["text"] for row in self.facts(document)]

    def document(self, name: str) -> dict[str, Any]:
        """The document's row."""
        (row,) = self.rows(
            "SELECT document_id, original_text, tags, version, retain_params, created_at, updated_at FROM documents "
            "WHERE external_id = %s",
            name,
        )
        return row

    def chunks(self, document: str) -> list[dict[str, Any]]:
        """The document's chunks in order."""
        return self.rows(
            "SELECT c.chunk_index, c.part, c.chunk_text, c.fingerprint, c.extraction, c.created_at "
            "FROM chunks c JOIN documents d USING (tenant_id, bank_id, document_id) "
            "WHERE d.external_id = %s ORDER BY c.chunk_index",
            document,
        )

    def observe(self, text: str, facts: Sequence[UUID], tags: Sequence[str] | None = None) -> UUID:
        """An observation that rests on these facts, in their scope of these tags."""
        made, revision = uuid4(), uuid4()
        params = {
            "id": made, "revision": revision, "text": text, "first": facts[0], "facts": list(facts),
            "tags": None if tags is None else list(tags),
        }  # fmt: skip
        for statement in (_OBSERVATION, _EVIDENCE, _RESTED):
            self.change_by_name(statement, params)
        return made

    def change_by_name(self, statement: str, params: dict[str, object]) -> None:
        """Changes rows behind the product's back."""
        with admin(self.database.admin_url) as connection:
            connection.execute(statement.encode(), params)

    def archive(self, text: str) -> None:
        """An invalidated twin, of this text, for every fact of a document."""
        self.change(
            "INSERT INTO invalidated_memory_units (tenant_id, bank_id, id, fact_type, document_id, chunk_index, text, "
            "tags, version, created_at, updated_at) "
            "SELECT tenant_id, bank_id, gen_random_uuid(), fact_type, document_id, chunk_index, %s, tags, 1, now(), "
            "now() "
            "FROM memory_units WHERE document_id IS NOT NULL",
            text,
        )

    def observations(self) -> list[str]:
        """The texts of the observations there are."""
        return [
            row["text"]
            for row in self.rows("SELECT text FROM memory_units WHERE fact_type = 'observation' ORDER BY text")
        ]

    def work(self) -> dict[tuple[UUID, tuple[str, ...]], str]:
        """State of the work by fact and scope."""
        rows = self.rows(
            "SELECT w.fact_id, s.tags, w.state "
            "FROM consolidation_work w JOIN scopes s USING (tenant_id, bank_id, scope_id)"
        )
        return {(row["fact_id"], tuple(row["tags"])): row["state"] for row in rows}

    def operation(self, operation_id: object) -> dict[str, Any]:
        """The operation's row."""
        (row,) = self.rows(
            "SELECT operation_id, kind, status, payload, document_ids, result, error_message FROM operations "
            "WHERE operation_id = %s",
            operation_id,
        )
        return row

    def texts_anywhere(self, text: str) -> dict[str, int]:
        """In which tables a text stands in any column, and how often."""
        tables = self.rows(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'"
        )
        found: dict[str, int] = {}
        for row in tables:
            (count,) = self.rows(f"SELECT count(*) AS n FROM {row['relname']} t WHERE strpos(t::text, %s) > 0", text)
            if count["n"]:
                found[row["relname"]] = count["n"]
        return found


def item(content: str, document: str | None = "d", **fields: Any) -> RetainItem:
    """An item of a document."""
    return RetainItem(content, document_id=document, **fields)


def turns(*texts: str) -> str:
    """A conversation as JSON."""
    return json.dumps([{"role": "user", "content": text} for text in texts])


def sections(count: int, words: int = 24) -> list[str]:
    """Sections of about one chunk of 200 characters each, all different."""
    return [
        f"Section {number} tells of {' '.join(f'w{number}x{word}' for word in range(words))}."
        for number in range(count)
    ]


@pytest.fixture
def shelf(database: Database, tenant: TenantId, store: PostgresStore) -> Iterator[Shelf]:
    shop = Shelf(database, tenant, store)
    yield shop
    for twin in shop.twins:
        twin.store.close()


def at(text: str) -> datetime:
    """A moment."""
    return datetime.fromisoformat(text)
