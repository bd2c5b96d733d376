"""What must hold of every bank at rest, whatever befell the workers: asked of the tables, past every policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg.rows import DictRow

from hindsight_aws.model.ids import BankId

NEAR: Final = 0.97
_BROKEN: Final = {
    "an observation rests on nothing": """
        SELECT o.id, o.text FROM memory_units o
        WHERE o.bank_id = ANY(%(banks)s) AND o.fact_type = 'observation'
          AND NOT EXISTS (
              SELECT FROM observation_evidence e WHERE e.bank_id = o.bank_id AND e.observation_id = o.id)""",
    "a quote is not in its fact": """
        SELECT e.fact_id, e.quote FROM observation_evidence e
        JOIN memory_units f ON f.bank_id = e.bank_id AND f.id = e.fact_id
        WHERE e.bank_id = ANY(%(banks)s) AND position(e.quote IN f.text) = 0""",
    "evidence comes from outside the scope": """
        SELECT e.fact_id FROM observation_evidence e
        JOIN memory_units o ON o.bank_id = e.bank_id AND o.id = e.observation_id
        WHERE e.bank_id = ANY(%(banks)s) AND NOT EXISTS (
            SELECT FROM consolidation_work w
            WHERE w.bank_id = e.bank_id AND w.fact_id = e.fact_id AND w.scope_id = o.scope_id)""",
    "a proof count is wrong": """
        SELECT o.id, o.proof_count FROM memory_units o
        WHERE o.bank_id = ANY(%(banks)s) AND o.fact_type = 'observation' AND o.proof_count <> (
            SELECT count(*) FROM observation_evidence e WHERE e.bank_id = o.bank_id AND e.observation_id = o.id)""",
    "two observations of a scope say the same": """
        SELECT a.text, b.text AS other FROM memory_units a
        JOIN memory_units b ON b.bank_id = a.bank_id AND b.scope_id = a.scope_id AND b.id > a.id
        WHERE a.bank_id = ANY(%(banks)s) AND a.fact_type = 'observation' AND b.fact_type = 'observation'
          AND regexp_replace(a.text, '\\s+', ' ', 'g') = regexp_replace(b.text, '\\s+', ' ', 'g')""",
    "an observation has other tags than its scope": """
        SELECT o.id, o.tags FROM memory_units o JOIN scopes s ON s.bank_id = o.bank_id AND s.scope_id = o.scope_id
        WHERE o.bank_id = ANY(%(banks)s) AND o.tags <> s.tags""",
    "a counter is wrong": """
        SELECT c.bank_id, c.fact_type, c.units, c.terms, found.units AS real_units, found.terms AS real_terms
        FROM (SELECT bank_id, fact_type, sum(units) AS units, sum(terms) AS terms FROM bank_counters
              WHERE bank_id = ANY(%(banks)s) GROUP BY 1, 2) AS c
        FULL JOIN (SELECT bank_id, fact_type, count(*) AS units, sum(terms) AS terms FROM memory_units
                   WHERE bank_id = ANY(%(banks)s) AND fact_type <> 'shadow' GROUP BY 1, 2) AS found
        USING (bank_id, fact_type)
        WHERE coalesce(c.units, 0) <> coalesce(found.units, 0) OR coalesce(c.terms, 0) <> coalesce(found.terms, 0)""",
    "an observation is not what its last revision says": """
        SELECT o.id, o.text, last.text AS revised FROM memory_units o
        LEFT JOIN LATERAL (SELECT text FROM observation_revisions r
                           WHERE r.bank_id = o.bank_id AND r.observation_id = o.id
                           ORDER BY sequence DESC LIMIT 1) AS last ON true
        WHERE o.bank_id = ANY(%(banks)s) AND o.fact_type = 'observation' AND last.text IS DISTINCT FROM o.text""",
    "a document's chunk has the same fact twice": """
        SELECT document_id, chunk_index, ordinal FROM memory_units
        WHERE bank_id = ANY(%(banks)s) AND fact_type <> 'observation' AND document_id IS NOT NULL
        GROUP BY document_id, chunk_index, ordinal HAVING count(*) > 1""",
}
_NEAR_TWINS: Final = """
    SELECT a.text, b.text AS other, 1 - (a.embedding <=> b.embedding) AS similarity
    FROM memory_units a JOIN memory_units b ON b.bank_id = a.bank_id AND b.scope_id = a.scope_id AND b.id > a.id
    WHERE a.bank_id = ANY(%(banks)s) AND 1 - (a.embedding <=> b.embedding) >= %(near)s
      AND a.fact_type = 'observation' AND b.fact_type = 'observation'"""
_STRANDED: Final = """
    SELECT f.text, w.state, w.error FROM consolidation_work w
    JOIN memory_units f ON f.bank_id = w.bank_id AND f.id = w.fact_id
    WHERE w.bank_id = ANY(%(banks)s) AND w.state <> 'done'"""


def broken(rows: psycopg.Connection[DictRow], banks: Sequence[BankId]) -> list[str]:
    """What does not hold of these banks, with the first rows that show it."""
    return _found(rows, banks, _BROKEN)


def near_twins(rows: psycopg.Connection[DictRow], banks: Sequence[BankId]) -> list[str]:
    """Pairs of observations of one scope that are near-duplicates: none may be left where the judge merges all."""
    return _found(rows, banks, {"two observations of a scope are near-duplicates": _NEAR_TWINS})


def stranded(rows: psycopg.Connection[DictRow], banks: Sequence[BankId]) -> list[str]:
    """Facts that are not consolidated in some scope."""
    return _found(rows, banks, {"a fact is not consolidated": _STRANDED})


def _found(rows: psycopg.Connection[DictRow], banks: Sequence[BankId], queries: dict[str, str]) -> list[str]:
    found: list[str] = []
    for what, query in queries.items():
        shown = rows.execute(query.encode(), {"banks": list(banks), "near": NEAR}).fetchall()
        if shown:
            found.append(f"{what} ({len(shown)}): {shown[:3]}")
    return found
