-- m_in_sight --
-- The model m passes the filter by tags, and was written under limits no wider than the caller's.
(%(any_of)s::text[] IS NULL OR m.tags && %(any_of)s::text[])
AND (%(predicate)s::jsonpath IS NULL OR jsonb_path_match(to_jsonb(m.tags), %(predicate)s::jsonpath, %(variables)s::jsonb))
AND (%(seen_types)s::text[] IS NULL OR m.sight_types <@ %(seen_types)s::text[])
AND (%(seen_scopes)s::text[] IS NULL OR m.sight_scopes <@ %(seen_scopes)s::text[])
AND (%(asked_types)s::text[] IS NULL OR m.scope_types <@ %(asked_types)s::text[])

-- m_columns --
-- All that a model's row says.
m.page_id, m.model_id, m.name, m.source_query, m.content, m.structure, m.tags, m.max_tokens, m.trigger, m.creator, m.response,
m.version, m.written_query, m.is_paused, m.last_refreshed_at, m.last_full_refreshed_at, m.last_memory_seen_at,
m.last_refresh_failed_at, m.created_at

-- u_in_scope_of_m --
-- The memory u is one that the model m is written from.
u.tenant_id = m.tenant_id AND u.bank_id = m.bank_id AND u.fact_type = ANY (m.scope_types)
AND (m.scope_predicate IS NULL OR jsonb_path_match(to_jsonb(u.tags), m.scope_predicate::jsonpath, m.scope_variables))

-- m_seen --
-- The latest change that the model m saw; coalesce would count as leaky, and cost the index.
CASE WHEN m.last_memory_seen_at IS NULL THEN m.last_refreshed_at ELSE m.last_memory_seen_at END

-- u_within_margin_of_m --
-- The memory u carries a time that m saw, but may have been committed later; no transaction outlives the margin.
u.tenant_id = m.tenant_id AND u.bank_id = m.bank_id AND u.updated_at > {{m_seen}} - interval '5 minutes' AND u.updated_at <= {{m_seen}}

-- m_staleness_by_time --
-- Why the text of the model m is not up to date, as far as the times of memories tell, or null.
CASE
    WHEN m.last_refreshed_at IS NULL THEN 'never_refreshed'
    WHEN EXISTS (SELECT FROM mental_model_citations c
                 WHERE c.tenant_id = m.tenant_id AND c.bank_id = m.bank_id AND c.page_id = m.page_id
                   AND c.version = m.version AND c.memory_id IS NULL) THEN 'source_deleted'
    WHEN (SELECT true FROM memory_units u
          WHERE u.tenant_id = m.tenant_id AND u.bank_id = m.bank_id AND u.updated_at > {{m_seen}}
            AND u.fact_type = ANY (m.scope_types)
            AND (m.stale_predicate IS NULL
                 OR jsonb_path_match(to_jsonb(u.tags), m.stale_predicate::jsonpath, m.stale_variables))
          ORDER BY u.updated_at DESC LIMIT 1) THEN 'new_memories'
END

-- m_staleness_by_commit --
-- Why the text of the model m is not up to date, where what was committed late has to be looked at memory by memory, or null.
CASE WHEN (SELECT true FROM memory_units u
           WHERE {{u_within_margin_of_m}} AND u.fact_type = ANY (m.scope_types)
             AND is_unseen('-infinity', u.xmin, 'infinity', m.seen_snapshot)
             AND (m.stale_predicate IS NULL
                  OR jsonb_path_match(to_jsonb(u.tags), m.stale_predicate::jsonpath, m.stale_variables))
           LIMIT 1) THEN 'new_memories' END

-- m_staleness --
-- Why the text of the model m is not up to date, or null; of many memories few transactions wrote all, and they are looked at first.
coalesce({{m_staleness_by_time}},
         CASE WHEN EXISTS (SELECT FROM (SELECT u.xmin AS written_by FROM memory_units u WHERE {{u_within_margin_of_m}}
                                         GROUP BY u.xmin OFFSET 0) AS late
                           WHERE is_unseen('-infinity', late.written_by, 'infinity', m.seen_snapshot))
              THEN {{m_staleness_by_commit}} END)

-- m_is_page --
-- The model m is a page of the knowledge base.
EXISTS (SELECT FROM knowledge_pages k WHERE k.tenant_id = m.tenant_id AND k.bank_id = m.bank_id AND k.page_id = m.page_id)

-- m_is_withheld --
-- Something that the text of the model m rests on is gone.
EXISTS (SELECT FROM mental_model_citations c
        WHERE c.tenant_id = m.tenant_id AND c.bank_id = m.bank_id AND c.page_id = m.page_id AND c.version = m.version
          AND c.memory_id IS NULL)

-- m_text_shown --
-- The text of the model m, as much as a search reads of it; empty while it is withheld.
CASE WHEN {{m_is_withheld}} THEN '' ELSE left(m.content, 40000) END

-- m_written_at --
-- When the model m was last written, or else made.
coalesce(m.last_refreshed_at, m.created_at)
