-- former_facts --
-- Facts out of use that were in use at the moment, the last to go first, with how near their words are to a vector.
SELECT u.id, u.fact_type, u.text,
       1 - (CASE WHEN u.embedding_model IS NOT DISTINCT FROM b.embedding_model THEN u.embedding ELSE (
                SELECT r.embedding FROM reembedded_vectors r
                WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.operation_id = b.vectors_beside
                  AND r.kind = 'archived' AND r.item_id = u.id) END <=> %(embedding)s::halfvec)
FROM invalidated_memory_units AS u
JOIN banks AS b ON b.tenant_id = u.tenant_id AND b.bank_id = u.bank_id
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
  AND u.invalidated_at > %(as_of)s::timestamptz
  AND {{u_passes}}
ORDER BY u.invalidated_at DESC, u.id
LIMIT %(at_most)s::bigint

-- former_wordings --
-- Wordings that observations had at the moment and have no more, the latest first, with how near they are to a vector.
WITH former AS MATERIALIZED (
    SELECT u.id, u.text, u.sequence
    FROM (
        SELECT DISTINCT ON (r.observation_id) r.observation_id AS id, r.kind, r.text, r.sequence, r.scope_id, r.tags, r.occurred_start,
               r.occurred_end, r.mentioned_at
        FROM observation_revisions AS r
        WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.changed_at <= %(as_of)s::timestamptz
        ORDER BY r.observation_id, r.sequence DESC
    ) AS u
    JOIN scopes AS s ON s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = u.scope_id
    WHERE u.kind NOT IN ('merge', 'delete') AND u.text IS NOT NULL
      AND s.rebuilds IS NULL AND (s.rebuilt_at IS NULL OR s.rebuilt_at <= %(as_of)s::timestamptz)
      AND {{u_tags_pass}}
      AND {{u_is_between}}
      AND NOT EXISTS (
          SELECT FROM memory_units AS m
          WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.id = u.id AND m.text = u.text
            AND m.created_at <= %(as_of)s::timestamptz)
    ORDER BY u.sequence DESC
    LIMIT %(at_most)s::bigint
)
SELECT f.id, 'observation', f.text, 1 - (v.embedding <=> %(embedding)s::halfvec)
FROM former AS f
LEFT JOIN LATERAL (
    SELECT CASE WHEN k.item_id IS NULL THEN r.embedding ELSE k.embedding END AS embedding
    FROM observation_revisions AS r
    JOIN banks AS b ON b.tenant_id = r.tenant_id AND b.bank_id = r.bank_id
    LEFT JOIN reembedded_vectors AS k
      ON k.tenant_id = r.tenant_id AND k.bank_id = r.bank_id AND k.operation_id = b.vectors_beside AND k.kind = 'revision'
     AND k.item_id = r.revision_id AND b.embedding_model IS DISTINCT FROM r.embedding_model
    WHERE (k.item_id IS NOT NULL OR b.embedding_model IS NOT DISTINCT FROM r.embedding_model)
      AND r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.observation_id = f.id AND r.sequence <= f.sequence
      AND r.embedding IS NOT NULL AND r.text = f.text
    ORDER BY r.sequence DESC
    LIMIT 1
) AS v ON true
ORDER BY f.sequence DESC

-- units_then --
-- Memories as they were at the moment, with the revision that was current where they are observations.
SELECT {{u_columns}}, NULL::uuid AS revision_id
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_units AS m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.id = wanted.id AND m.fact_type <> 'observation' OFFSET 0
) AS u
LEFT JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = u.document_id
WHERE u.fact_type = ANY (%(fact_types)s::text[]) AND {{u_passes}}
UNION ALL
SELECT {{u_columns}}, NULL
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT i.*, 1 AS proof_count FROM invalidated_memory_units AS i
    WHERE i.tenant_id = %(tenant_id)s AND i.bank_id = %(bank_id)s::uuid AND i.id = wanted.id OFFSET 0
) AS u
LEFT JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = u.document_id
WHERE u.fact_type = ANY (%(fact_types)s::text[]) AND u.invalidated_at > %(as_of)s::timestamptz AND {{u_passes}}
UNION ALL
SELECT {{u_columns}}, u.revision_id
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT r.observation_id AS id, 'observation' AS fact_type, r.text, NULL::text AS context, r.occurred_start, r.occurred_end,
           r.mentioned_at, '{}'::jsonb AS metadata, r.tags, jsonb_array_length(r.evidence) AS proof_count, NULL::uuid AS document_id,
           NULL::integer AS chunk_index, 0 AS ordinal, r.revision_id, r.kind, r.scope_id
    FROM observation_revisions AS r
    WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.observation_id = wanted.id
      AND r.changed_at <= %(as_of)s::timestamptz
    ORDER BY r.sequence DESC
    LIMIT 1
) AS u
JOIN scopes AS s ON s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = u.scope_id
LEFT JOIN documents AS d ON d.tenant_id = %(tenant_id)s AND d.bank_id = %(bank_id)s::uuid AND d.document_id = u.document_id
WHERE 'observation' = ANY (%(fact_types)s::text[]) AND u.kind NOT IN ('merge', 'delete') AND u.text IS NOT NULL
  AND s.rebuilds IS NULL AND (s.rebuilt_at IS NULL OR s.rebuilt_at <= %(as_of)s::timestamptz)
  AND {{u_tags_pass}}
  AND {{u_is_between}}

-- support_then --
-- What revisions of observations rested on, in the order of the facts' ids, and whether the caller may see it.
SELECT r.observation_id, piece.fact_id, piece.quote, piece.origin,
       coalesce(u.fact_type = ANY (%(source_types)s::text[]) AND {{u_source_tags_pass}}, false)
FROM observation_revisions AS r
CROSS JOIN LATERAL jsonb_to_recordset(r.evidence) AS piece (fact_id uuid, quote text, origin text)
LEFT JOIN memory_units AS u ON u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = piece.fact_id
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.revision_id = ANY (%(revisions)s::uuid[])
  AND r.text IS NOT NULL
ORDER BY r.observation_id, piece.fact_id
