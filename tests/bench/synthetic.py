"""Large banks made by SQL from one that was retained: its texts, terms and vectors over and over, each in new company.

Called by the measurements of recall.  Every memory has dates, tags, entities and links, and each twentieth fact an
observation upon it, so that all four arms have something to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

_VECTOR_INDEXES = ("memory_units_world_vector", "memory_units_observation_vector")
_BANKS = """
CREATE TEMPORARY TABLE made_banks AS
SELECT b.tenant_id, gen_random_uuid() AS bank_id, b.embedding_model, b.config, n.name, %(rows)s::bigint AS rows,
       greatest(%(rows)s::bigint / 20, 200) AS entities
FROM hindsight.banks AS b, unnest(%(names)s::text[]) AS n (name)
WHERE b.external_id = %(source)s
"""
_STATEMENTS = (
    """
    INSERT INTO banks (tenant_id, bank_id, external_id, embedding_model, config)
    SELECT tenant_id, bank_id, name, embedding_model, config FROM made_banks
    """,
    """
    CREATE TEMPORARY TABLE origin AS
    SELECT u.*, row_number() OVER (ORDER BY u.id) - 1 AS place, count(*) OVER () AS total
    FROM memory_units AS u JOIN banks AS b USING (tenant_id, bank_id)
    WHERE b.external_id = %(source)s AND u.fact_type <> 'observation'
    """,
    """
    CREATE TEMPORARY TABLE made AS
    SELECT b.tenant_id, b.bank_id, gen_random_uuid() AS id, i, o.id AS like_id, b.entities,
           timestamptz '1990-01-01 09:00Z' + make_interval(days => (i * 37 %% 14600)::integer) AS happened
    FROM made_banks AS b
    CROSS JOIN LATERAL generate_series(1, b.rows) AS i
    JOIN origin AS o ON o.place = i %% o.total
    """,
    """
    INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, tags, terms, occurred_start,
                              occurred_end, mentioned_at, event_date, created_at, updated_at)
    SELECT m.tenant_id, m.bank_id, m.id, 'world', o.text, o.embedding + p.embedding,
           ARRAY['group:' || m.i %% 50, 'user:' || m.i %% 400], o.terms, m.happened,
           CASE WHEN m.i %% 4 = 0 THEN m.happened + interval '3 days' END, m.happened + interval '1 day', m.happened,
           now() - make_interval(mins => m.i::integer), now() - make_interval(mins => m.i::integer)
    FROM made AS m
    JOIN origin AS o ON o.id = m.like_id
    JOIN origin AS p ON p.place = (m.i * 31 + m.i / 997) %% p.total
    """,
    """
    INSERT INTO unit_terms (tenant_id, bank_id, fact_type, term, unit_id, tf, length)
    SELECT m.tenant_id, m.bank_id, 'world', t.term, m.id, t.tf, t.length
    FROM made AS m JOIN unit_terms AS t ON t.tenant_id = m.tenant_id AND t.unit_id = m.like_id
    """,
    """
    INSERT INTO unit_tags (tenant_id, bank_id, tag, unit_id)
    SELECT m.tenant_id, m.bank_id, tag, m.id
    FROM made AS m CROSS JOIN LATERAL unnest(ARRAY['group:' || m.i %% 50, 'user:' || m.i %% 400]) AS tag
    """,
    """
    INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key)
    SELECT tenant_id, bank_id, gen_random_uuid(), 'Entity ' || n, 'entity ' || n
    FROM made_banks CROSS JOIN LATERAL generate_series(0, entities - 1) AS n
    """,
    """
    INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id, linked_at)
    SELECT m.tenant_id, m.bank_id, m.id, e.entity_id, now() - make_interval(mins => m.i::integer)
    FROM made AS m
    JOIN entities AS e ON e.tenant_id = m.tenant_id AND e.bank_id = m.bank_id
     AND e.name_key IN ('entity ' || m.i %% m.entities, 'entity ' || m.i * 7 %% m.entities, 'entity ' || m.i %% 5)
    """,
    """
    UPDATE entities AS e SET mention_count = n.mentions
    FROM (
        SELECT x.tenant_id, x.bank_id, x.entity_id, count(*) AS mentions
        FROM unit_entities AS x JOIN made_banks USING (tenant_id, bank_id) GROUP BY 1, 2, 3
    ) AS n
    WHERE (e.tenant_id, e.bank_id, e.entity_id) = (n.tenant_id, n.bank_id, n.entity_id)
    """,
    """
    INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
    SELECT m.tenant_id, m.bank_id, m.id, o.id, l.kind, l.weight
    FROM (VALUES ('semantic', 1, 0.8), ('semantic', 500, 0.75), ('temporal', 2, 0.6), ('causes', 3, 0.9))
         AS l (kind, apart, weight)
    JOIN made AS m ON true
    JOIN made AS o ON o.bank_id = m.bank_id AND o.i = m.i + l.apart
    """,
    """
    CREATE TEMPORARY TABLE seen AS
    SELECT m.*, gen_random_uuid() AS observation_id FROM made AS m WHERE m.i %% 20 = 0
    """,
    """
    INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, tags, terms, event_date, mentioned_at,
                              scope_id, proof_count)
    SELECT s.tenant_id, s.bank_id, s.observation_id, 'observation', u.text, u.embedding, u.tags, u.terms, u.event_date,
           u.mentioned_at, gen_random_uuid(), 3
    FROM seen AS s JOIN memory_units AS u USING (tenant_id, bank_id, id)
    """,
    """
    INSERT INTO unit_terms (tenant_id, bank_id, fact_type, term, unit_id, tf, length)
    SELECT s.tenant_id, s.bank_id, 'observation', t.term, s.observation_id, t.tf, t.length
    FROM seen AS s JOIN unit_terms AS t ON t.tenant_id = s.tenant_id AND t.unit_id = s.like_id
    """,
    """
    INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin)
    SELECT s.tenant_id, s.bank_id, s.observation_id, f.id, o.text, 'whole'
    FROM seen AS s
    JOIN made AS f ON f.bank_id = s.bank_id AND f.i BETWEEN s.i - 2 AND s.i
    JOIN origin AS o ON o.id = f.like_id
    """,
    """
    INSERT INTO bank_counters (tenant_id, bank_id, fact_type, shard, units, terms)
    SELECT u.tenant_id, u.bank_id, u.fact_type, 0, count(*), sum(u.terms)
    FROM memory_units AS u JOIN made_banks USING (tenant_id, bank_id) GROUP BY 1, 2, 3
    """,
    "DROP TABLE made_banks, origin, made, seen",
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Banks to make, all of so many facts."""

    names: Sequence[str]
    rows: int


def grow(superuser_url: str, source: str, growths: Sequence[Growth]) -> None:
    """Makes the banks from the retained one, within its tenant; every index is whole and analysed afterwards."""
    with psycopg.connect(superuser_url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        # What is made together refers to each other rightly: checking millions of foreign keys would take minutes.
        admin.execute("SET session_replication_role = replica")
        with _without_vector_indexes(admin):
            for growth in growths:
                asked: dict[str, object] = {"names": list(growth.names), "rows": growth.rows, "source": source}
                admin.execute(_BANKS.encode(), asked)
                for statement in _STATEMENTS:
                    admin.execute(statement.encode(), asked if "%(" in statement else {})
        admin.execute("VACUUM (ANALYZE)")


@contextmanager
def _without_vector_indexes(admin: psycopg.Connection[tuple[object, ...]]) -> Iterator[None]:
    """A bulk load builds the vector indexes last: row by row it would take many minutes."""
    found = [admin.execute("SELECT pg_get_indexdef(%s::regclass)", (name,)).fetchone() for name in _VECTOR_INDEXES]
    admin.execute(f"DROP INDEX {', '.join(_VECTOR_INDEXES)}".encode())
    yield
    admin.execute("SET maintenance_work_mem = '512MB'")
    for definition in found:
        assert definition is not None
        admin.execute(str(definition[0]).encode())
