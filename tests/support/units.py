"""Facts put straight into the tables: for tests and benchmarks that need memories before, or without, retain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from uuid import UUID, uuid4

import psycopg
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.text.terms import frequencies
from tests.support.admin import admin, changing

DIMENSIONS = 512
_Cursor: TypeAlias = "psycopg.Cursor[tuple[object, ...]]"

_UNIT = """
INSERT INTO memory_units
    (tenant_id, bank_id, id, fact_type, document_id, chunk_index, text, context, embedding, occurred_start,
     occurred_end, mentioned_at, metadata, tags, scope_id, proof_count, terms, event_date)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_POSTINGS = """
INSERT INTO unit_terms (tenant_id, bank_id, fact_type, term, unit_id, tf, length)
SELECT %s, %s, %s, term, %s, tf, %s FROM unnest(%s::text[], %s::smallint[]) AS posting (term, tf)
"""
_UNIT_TAGS = """
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id) SELECT %s, %s, tag, %s FROM unnest(%s::text[]) AS tag
"""
_ENTITY = """
WITH made AS (
    INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant_id, bank_id, name_key) DO UPDATE SET last_seen = now() RETURNING entity_id
)
INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id) SELECT %s, %s, %s, entity_id FROM made
"""
_DOCUMENT = """
INSERT INTO documents (tenant_id, bank_id, document_id, external_id, tags) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, bank_id, external_id) DO UPDATE SET updated_at = now() RETURNING document_id
"""
_CHUNK = """
INSERT INTO chunks (tenant_id, bank_id, document_id, chunk_index, chunk_text, content_hash)
VALUES (%s, %s, %s, %s, %s, '') ON CONFLICT DO NOTHING
"""
_SCOPE = """
INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (tenant_id, bank_id, scope_key) DO UPDATE SET scope_key = excluded.scope_key RETURNING scope_id
"""
_EVIDENCE = """
INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin)
SELECT tenant_id, bank_id, %s, id, text, 'whole' FROM memory_units WHERE tenant_id = %s AND bank_id = %s AND id = %s
"""
_LINK = """
INSERT INTO hindsight.memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
VALUES (%s, %s, %s, %s, %s, %s)
"""
_MENTIONS = """
UPDATE entities AS n SET mention_count = (
    SELECT count(*) FROM unit_entities AS x
    WHERE x.tenant_id = n.tenant_id AND x.bank_id = n.bank_id AND x.entity_id = n.entity_id)
WHERE n.tenant_id = %s AND n.bank_id = %s
"""
_COUNTERS = """
INSERT INTO bank_counters (tenant_id, bank_id, fact_type, shard, units, terms)
SELECT tenant_id, bank_id, fact_type, 0, count(*), sum(terms) FROM memory_units
WHERE tenant_id = %s AND bank_id = %s GROUP BY tenant_id, bank_id, fact_type
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """A memory to insert; its postings are made from `text`, an observation's scope from its tags."""

    text: str
    fact_type: str = "world"
    id: UUID = field(default_factory=uuid4)
    vector: Sequence[float] | None = None
    tags: tuple[str, ...] = ()
    context: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    proof_count: int = 1
    document: str | None = None
    chunk_index: int | None = None
    entities: tuple[str, ...] = ()
    sources: tuple[UUID, ...] = ()


def padded(vector: Sequence[float]) -> list[float]:
    """The vector with zeros up to the column's 512 dimensions."""
    return [*vector, *([0.0] * (DIMENSIONS - len(vector)))]


def make_bank(admin_url: str, tenant: TenantId, external_id: str = "bank") -> BankId:
    """A new bank of the tenant."""
    bank_id = BankId(uuid4())
    with admin(admin_url) as connection:
        connection.execute(
            "INSERT INTO banks (tenant_id, bank_id, external_id) VALUES (%s, %s, %s)",
            (tenant, bank_id, external_id),
        )
    return bank_id


def insert_units(admin_url: str, tenant: TenantId, bank_id: BankId, units: Sequence[Unit]) -> None:
    """Inserts the units with their documents, scopes, terms, tags, entities, evidence and counters."""
    with changing(admin_url) as connection:
        cursor: _Cursor = connection.cursor()
        for unit in units:
            _insert(cursor, tenant, bank_id, unit)
        for unit in units:
            for source in unit.sources:
                cursor.execute(_EVIDENCE, (unit.id, tenant, bank_id, source))
        _recount(cursor, tenant, bank_id)


def insert_links(
    admin_url: str, tenant: TenantId, bank_id: BankId, links: Sequence[tuple[UUID, UUID, str, float]]
) -> None:
    """Inserts links: from, to, type and weight of each."""
    with changing(admin_url) as connection:
        connection.cursor().executemany(_LINK, [(tenant, bank_id, *link) for link in links])


def _insert(cursor: _Cursor, tenant: TenantId, bank_id: BankId, unit: Unit) -> None:
    terms = frequencies(unit.text)
    length = sum(terms.values())
    tags = sorted(set(unit.tags))
    vector = None if unit.vector is None else str(HalfVector(padded(unit.vector)).to_list())
    document_id = _document(cursor, tenant, bank_id, unit)
    scope_id = None
    if unit.fact_type == "observation":
        scope_id = _returned(cursor, _SCOPE, (tenant, bank_id, uuid4(), "\x1f".join(tags), tags))
    cursor.execute(
        _UNIT,
        (
            tenant, bank_id, unit.id, unit.fact_type, document_id, unit.chunk_index, unit.text, unit.context, vector,
            unit.occurred_start, unit.occurred_end, unit.mentioned_at, Jsonb(unit.metadata), list(unit.tags), scope_id,
            unit.proof_count, length, unit.occurred_start or unit.mentioned_at,
        ),
    )  # fmt: skip
    cursor.execute(_POSTINGS, (tenant, bank_id, unit.fact_type, unit.id, length, list(terms), list(terms.values())))
    cursor.execute(_UNIT_TAGS, (tenant, bank_id, unit.id, tags))
    for name in unit.entities:
        cursor.execute(_ENTITY, (tenant, bank_id, uuid4(), name, name.casefold(), tenant, bank_id, unit.id))


def _document(cursor: _Cursor, tenant: TenantId, bank_id: BankId, unit: Unit) -> object | None:
    if unit.document is None:
        return None
    tags = sorted(set(unit.tags))
    document_id = _returned(cursor, _DOCUMENT, (tenant, bank_id, uuid4(), unit.document, tags))
    if unit.chunk_index is not None:
        text = f"Chunk {unit.chunk_index} of {unit.document}: {unit.text}"
        cursor.execute(_CHUNK, (tenant, bank_id, document_id, unit.chunk_index, text))
    return document_id


def _returned(cursor: _Cursor, statement: str, params: tuple[object, ...]) -> object:
    row = cursor.execute(statement.encode(), params).fetchone()
    assert row is not None
    return row[0]


def _recount(cursor: _Cursor, tenant: TenantId, bank_id: BankId) -> None:
    cursor.execute("DELETE FROM bank_counters WHERE tenant_id = %s AND bank_id = %s", (tenant, bank_id))
    cursor.execute(_COUNTERS, (tenant, bank_id))
    cursor.execute(_MENTIONS, (tenant, bank_id))


# A vector is the sum of two of 997 random ones: as varied as need be, at a thousandth of the random numbers.
_VECTOR_PARTS = """
CREATE TEMPORARY TABLE parts AS
SELECT n, (
    SELECT array_agg((random() - 0.5) * (n + g) / (n + g)) FROM generate_series(1, 512) AS g
)::real[]::halfvec(512) AS part
FROM generate_series(0, 996) AS n
"""
_SYNTHETIC_UNITS = """
INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, mentioned_at, event_date, tags, terms,
                          document_id, chunk_index)
SELECT %(tenant)s, %(bank)s, gen_random_uuid(), %(fact_type)s,
       'Synthetic fact number ' || i || ' about the subject ' || i %% 997 || ' and the matter ' || i %% 89,
       CASE WHEN i %% 100 < %(embedded_percent)s THEN a.part + b.part END,
       now() - make_interval(mins => i), now() - make_interval(mins => i),
       ARRAY['group:' || i %% 50, 'user:' || i %% 400], 12, d.document_id, 0 * length(d.document_id::text)
FROM generate_series(1, %(rows)s) AS i
JOIN parts AS a ON a.n = i %% 997
JOIN parts AS b ON b.n = (i * 31 + i / 997) %% 997
CROSS JOIN LATERAL (SELECT CASE WHEN %(documents)s AND i > 0 THEN gen_random_uuid() END) AS d (document_id)
"""
_SYNTHETIC_DOCUMENTS = """
INSERT INTO documents (tenant_id, bank_id, document_id, external_id)
SELECT tenant_id, bank_id, document_id, document_id::text FROM memory_units
WHERE tenant_id = %(tenant)s AND bank_id = %(bank)s AND document_id IS NOT NULL
"""
_SYNTHETIC_CHUNKS = """
INSERT INTO chunks (tenant_id, bank_id, document_id, chunk_index, chunk_text, content_hash)
SELECT tenant_id, bank_id, document_id, 0, text, '' FROM memory_units
WHERE tenant_id = %(tenant)s AND bank_id = %(bank)s AND document_id IS NOT NULL
"""
# Zipf-like, as words of a language are: the term of rank k of 20,000 is the rarer the larger k.
_SYNTHETIC_TERMS = """
INSERT INTO unit_terms (tenant_id, bank_id, fact_type, term, unit_id, tf, length)
SELECT u.tenant_id, u.bank_id, u.fact_type, 'term' || floor(20000 ^ random())::integer, u.id, 1, 12
FROM memory_units AS u CROSS JOIN generate_series(1, 12) WHERE u.tenant_id = %(tenant)s AND u.bank_id = %(bank)s
ON CONFLICT DO NOTHING
"""
_SYNTHETIC_TAGS = """
INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id)
SELECT u.tenant_id, u.bank_id, tag, u.id FROM memory_units AS u, unnest(u.tags) AS tag
WHERE u.tenant_id = %(tenant)s AND u.bank_id = %(bank)s
"""


def fill_bank(
    admin_url: str,
    tenant: TenantId,
    bank_id: BankId,
    rows: int,
    fact_type: str = "world",
    embedded_percent: int = 100,
    documents: bool = False,
) -> None:
    """Fills a bank with synthetic memories of one raw type: random vectors, Zipf-like terms, two tags each.

    With `documents`, each is of a document of its own that has one chunk.
    """
    params: dict[str, object] = {
        "tenant": tenant, "bank": bank_id, "rows": rows, "fact_type": fact_type, "embedded_percent": embedded_percent,
        "documents": documents,
    }  # fmt: skip
    with psycopg.connect(admin_url, autocommit=True) as own:
        own.execute("SET search_path = hindsight, public")
        cursor: _Cursor = own.cursor()
        # Rows made together refer to each other rightly: checking a million foreign keys one by one would take minutes.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setseed(0.42)")
        cursor.execute(_VECTOR_PARTS)
        made = (_SYNTHETIC_UNITS, _SYNTHETIC_DOCUMENTS, _SYNTHETIC_CHUNKS, _SYNTHETIC_TERMS, _SYNTHETIC_TAGS)
        for statement in made:
            cursor.execute(statement, params)
        _recount(cursor, tenant, bank_id)
        cursor.execute("DROP TABLE parts")
        cursor.execute("VACUUM (ANALYZE) memory_units, unit_terms, unit_tags, bank_counters, documents, chunks")
