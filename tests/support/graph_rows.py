"""Entities, links and observations upon the synthetic facts of every bank: for tests of how large graphs are read."""

from __future__ import annotations

from typing import Any

import psycopg

_STATEMENTS = (
    """
    INSERT INTO entities (tenant_id, bank_id, entity_id, canonical_name, name_key, mention_count)
    SELECT b.tenant_id, b.bank_id, gen_random_uuid(), 'entity ' || n, 'entity ' || n, 40
    FROM banks AS b, generate_series(0, 199) AS n
    """,
    """
    INSERT INTO unit_entities (tenant_id, bank_id, unit_id, entity_id)
    SELECT u.tenant_id, u.bank_id, u.id, e.entity_id
    FROM (SELECT *, row_number() OVER (PARTITION BY bank_id ORDER BY id) AS place FROM memory_units) AS u
    JOIN entities AS e ON e.bank_id = u.bank_id AND e.name_key IN ('entity ' || u.place % 200, 'entity ' || u.place % 7)
    """,
    """
    INSERT INTO memory_links (tenant_id, bank_id, from_unit, to_unit, link_type, weight)
    SELECT u.tenant_id, u.bank_id, u.id, u.other, kind, 0.8
    FROM (SELECT *, lead(id, 3) OVER (PARTITION BY bank_id ORDER BY id) AS other FROM memory_units) AS u,
         unnest(ARRAY['temporal', 'semantic', 'causes']) AS kind
    WHERE u.other IS NOT NULL
    """,
    """
    INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, tags, scope_id, terms, event_date,
                              mentioned_at)
    SELECT u.tenant_id, u.bank_id, gen_random_uuid(), 'observation', u.text, u.embedding, u.tags, gen_random_uuid(), 12,
           u.event_date, u.mentioned_at
    FROM (
        SELECT *, row_number() OVER (PARTITION BY bank_id ORDER BY id) AS place
        FROM memory_units WHERE embedding IS NOT NULL
    ) AS u
    WHERE u.place % 20 = 0
    """,
    """
    INSERT INTO observation_evidence (tenant_id, bank_id, observation_id, fact_id, quote, origin)
    SELECT o.tenant_id, o.bank_id, o.id, f.id, f.text, 'whole'
    FROM memory_units AS o
    JOIN memory_units AS f ON f.bank_id = o.bank_id AND f.text = o.text AND f.fact_type = 'world'
    WHERE o.fact_type = 'observation'
    UNION ALL
    SELECT tenant_id, bank_id, gen_random_uuid(), id, text, 'whole' FROM memory_units WHERE fact_type <> 'observation'
    """,
    """
    INSERT INTO bank_counters (tenant_id, bank_id, fact_type, shard, units, terms)
    SELECT tenant_id, bank_id, fact_type, 0, count(*), sum(terms) FROM memory_units
    WHERE fact_type = 'observation' GROUP BY tenant_id, bank_id, fact_type
    """,
    """
    INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id)
    SELECT tenant_id, bank_id, gen_random_uuid(), id, gen_random_uuid()
    FROM memory_units WHERE fact_type <> 'observation'
    """,
    """
    INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags)
    SELECT tenant_id, bank_id, scope_id, scope_id::text, tags FROM memory_units WHERE fact_type = 'observation'
    """,
    """
    INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text, tags)
    SELECT tenant_id, bank_id, gen_random_uuid(), id, scope_id, 'create', text, tags
    FROM memory_units WHERE fact_type = 'observation'
    """,
    "ANALYZE memory_units, unit_entities, entities, memory_links, observation_evidence, consolidation_work",
)


def fill_graph(admin: psycopg.Connection[Any]) -> None:
    """Gives every fact two entities and three links to the third fact after it, and each twentieth an observation.

    A bank has 200 entities, every observation a scope and a revision, every fact is evidence of something besides.
    The connection checks no foreign keys from then on.
    """
    admin.execute("SET session_replication_role = replica")
    for statement in _STATEMENTS:
        admin.execute(statement.encode())
