-- u_tags_pass --
-- The memory u passes the filter by tags.
(%(any_of)s::text[] IS NULL OR u.tags && %(any_of)s::text[])
AND (%(predicate)s::jsonpath IS NULL OR jsonb_path_match(to_jsonb(u.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))

-- d_tags_pass --
-- The document or directive d passes the filter by tags.
(%(any_of)s::text[] IS NULL OR d.tags && %(any_of)s::text[])
AND (%(predicate)s::jsonpath IS NULL OR jsonb_path_match(to_jsonb(d.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))

-- d_is_own --
-- The document d holds no item that a limited caller may not see.
(%(own)s::jsonpath IS NULL OR NOT EXISTS (
     SELECT FROM jsonb_array_elements(coalesce(d.retain_params -> 'parts', '[]'::jsonb)) AS part (item)
     WHERE NOT jsonb_path_match(coalesce(part.item -> 'tags', '[]'::jsonb), %(own)s::jsonpath, %(own_variables)s::jsonb)))

-- u_source_tags_pass --
-- The fact u, which an observation rests on, passes the filter for such facts.
(%(source_any_of)s::text[] IS NULL OR u.tags && %(source_any_of)s::text[])
AND (%(source_predicate)s::jsonpath IS NULL
     OR jsonb_path_match(to_jsonb(u.tags), %(source_predicate)s::jsonpath, %(source_variables)s::jsonb))

-- u_is_between --
-- The memory u happened or was told of within the bounds.
(%(only_from)s::timestamptz IS NULL
 OR coalesce(u.occurred_start, u.occurred_end) <= %(only_until)s::timestamptz
    AND coalesce(u.occurred_end, u.occurred_start) >= %(only_from)s::timestamptz
 OR u.mentioned_at BETWEEN %(only_from)s::timestamptz AND %(only_until)s::timestamptz)

-- u_was_believed --
-- The memory u was believed at a past moment, in the words that it has now.
(%(as_of)s::timestamptz IS NULL
 OR u.created_at <= %(as_of)s::timestamptz
    AND CASE WHEN u.fact_type = 'observation'
             THEN hindsight.observation_was_worded(u.tenant_id, u.bank_id, u.id, u.text, %(as_of)s::timestamptz)
             WHEN u.edited_at > %(as_of)s::timestamptz THEN false
             WHEN u.version = 1 THEN true
             ELSE hindsight.fact_was_in_use(u.tenant_id, u.bank_id, u.id, u.document_id, %(as_of)s::timestamptz) END)

-- u_passes --
-- The memory u passes the filter by tags and every bound of time.
{{u_tags_pass}}
AND (%(updated_after)s::timestamptz IS NULL OR u.updated_at > %(updated_after)s::timestamptz)
AND (%(updated_before)s::timestamptz IS NULL OR u.updated_at < %(updated_before)s::timestamptz)
AND {{u_is_between}}
AND {{u_was_believed}}

-- everything_passes --
-- u_passes holds for every memory, so that none need be looked at.
%(any_of)s::text[] IS NULL AND %(predicate)s::jsonpath IS NULL AND %(updated_after)s::timestamptz IS NULL
AND %(updated_before)s::timestamptz IS NULL AND %(only_from)s::timestamptz IS NULL AND %(as_of)s::timestamptz IS NULL

-- u_columns --
-- The memory u and its document d as an answer shows them, in the order that store/recall_rows.py reads.
u.id, u.fact_type, u.text, u.context,
CASE WHEN isfinite(u.occurred_start) THEN u.occurred_start END, CASE WHEN isfinite(u.occurred_end) THEN u.occurred_end END,
CASE WHEN isfinite(u.mentioned_at) THEN u.mentioned_at END,
nullif(u.metadata, '{}'), u.tags, u.proof_count, u.document_id, d.external_id, u.chunk_index, u.ordinal
