-- memories --
-- Memories in sight as they are now: the source of a fact where it may be seen, the facts under an observation, and who is hidden.
SELECT u.id, u.text, u.fact_type, u.context,
       CASE WHEN isfinite(u.occurred_start) THEN u.occurred_start END AS occurred_start,
       CASE WHEN isfinite(u.occurred_end) THEN u.occurred_end END AS occurred_end,
       CASE WHEN isfinite(u.mentioned_at) THEN u.mentioned_at END AS mentioned_at,
       d.external_id AS document_id, u.chunk_index, u.tags, u.metadata,
       %(source)s::text IS NOT NULL AND d.external_id IS NOT NULL AND NOT d.is_seen AS is_withheld,
       CASE WHEN NOT d.is_seen THEN NULL
            WHEN %(source)s::text = 'document' THEN d.original_text
            WHEN %(source)s::text = 'chunk' THEN c.chunk_text END AS source,
       coalesce(b.facts, '[]') AS facts, coalesce(b.hidden, '{}') AS hidden
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = wanted.id
LEFT JOIN LATERAL (
    SELECT d.external_id, d.original_text,
           %(shows_sources)s::boolean
           AND {{d_tags_pass}}
           AND {{d_is_own}}
           AS is_seen
    FROM documents AS d
    WHERE d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = u.document_id
) AS d ON true
LEFT JOIN chunks AS c
  ON %(source)s::text = 'chunk' AND c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid
 AND c.document_id = u.document_id AND c.chunk_index = u.chunk_index
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
               'id', f.id, 'text', f.text, 'quote', e.quote, 'origin', e.origin,
               'mentioned_at', CASE WHEN isfinite(f.mentioned_at) THEN f.mentioned_at END)
               ORDER BY e.created_at, e.fact_id) FILTER (WHERE s.is_seen) AS facts,
           array_agg(f.id) FILTER (WHERE NOT s.is_seen) AS hidden
    FROM observation_evidence AS e
    JOIN memory_units AS f ON f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.id = e.fact_id
    CROSS JOIN LATERAL (
        SELECT u.fact_type = ANY (%(source_types)s::text[])
               AND {{u_tags_pass}} AS is_seen
        FROM (SELECT f.fact_type, f.tags) AS u
    ) AS s
    WHERE e.tenant_id = %(tenant_id)s AND e.bank_id = %(bank_id)s::uuid AND e.observation_id = u.id
) AS b ON %(with_evidence)s::boolean AND u.fact_type = 'observation'
WHERE u.fact_type = ANY (%(fact_types)s::text[])
  AND {{u_tags_pass}}
  AND (%(updated_after)s::timestamptz IS NULL OR u.updated_at > %(updated_after)s::timestamptz)
  AND (%(updated_before)s::timestamptz IS NULL OR u.updated_at < %(updated_before)s::timestamptz)
