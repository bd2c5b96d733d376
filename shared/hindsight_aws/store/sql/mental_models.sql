-- search --
-- The pages in sight with a text that the same model embedded, nearest to a vector first, with why each is stale.
SELECT m.model_id, m.name, m.content, m.tags, m.last_refreshed_at, {{m_staleness}} AS staleness, near.relevance
FROM (SELECT k.page_id, 1 - (k.embedding <=> %(vector)s::halfvec(512)) AS relevance
      FROM (SELECT m.page_id, m.embedding FROM mental_models m
            WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.content <> '' AND m.embedding IS NOT NULL
              AND m.embedding_model = %(embedding_model)s::text
              AND m.model_id <> ALL (%(excluded)s::text[])
              AND {{m_in_sight}}
              AND NOT EXISTS (SELECT FROM mental_model_citations c
                              WHERE c.tenant_id = m.tenant_id AND c.bank_id = m.bank_id AND c.page_id = m.page_id
                                AND c.version = m.version AND c.memory_id IS NULL)
            OFFSET 0) AS k
      ORDER BY k.embedding <=> %(vector)s::halfvec(512), k.page_id
      LIMIT %(limit)s::integer) AS near
JOIN mental_models m ON m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = near.page_id
ORDER BY near.relevance DESC, m.page_id

-- read --
-- Pages in sight by their ids, with why each is stale.
SELECT m.model_id, m.name, m.content, m.tags, m.last_refreshed_at, {{m_staleness}} AS staleness
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.model_id = ANY (%(ids)s::text[])
  AND m.model_id <> ALL (%(excluded)s::text[])
  AND {{m_in_sight}}

-- exist --
-- Whether there is a page in sight with a text.
SELECT EXISTS (
    SELECT FROM mental_models m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.content <> '' AND m.model_id <> ALL (%(excluded)s::text[])
      AND {{m_in_sight}}) AS found

-- count --
-- How many models a bank has.
SELECT count(*) AS models FROM mental_models WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid

-- add --
-- A model without text; nothing when its id is taken.
INSERT INTO mental_models (tenant_id, bank_id, page_id, model_id, name, source_query, tags, max_tokens, trigger, creator,
                           sight_types, sight_scopes, scope_types, scope_predicate, scope_variables, stale_predicate,
                           stale_variables, due_at)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(page_id)s::uuid, %(model_id)s::text, %(name)s::text, %(source_query)s::text,
        %(tags)s::text[], %(max_tokens)s::integer, %(trigger)s::jsonb, %(creator)s::jsonb, %(sight_types)s::text[], %(sight_scopes)s::text[],
        %(scope_types)s::text[], %(scope_predicate)s::text, %(scope_variables)s::jsonb, %(stale_predicate)s::text,
        %(stale_variables)s::jsonb, %(due_at)s::timestamptz)
ON CONFLICT DO NOTHING

-- view --
-- One model in sight, with why it is stale.
SELECT {{m_columns}}, {{m_is_page}} AS is_page, {{m_staleness}} AS staleness
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.model_id = %(model_id)s::text
  AND {{m_in_sight}}

-- page --
-- Models in sight, those refreshed last first, with how many there are; models that saw the same have its margin looked at once.
WITH matching AS MATERIALIZED (
    SELECT m.page_id, m.last_refreshed_at, m.model_id FROM mental_models m
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid
      AND {{m_in_sight}}
      AND (%(in_knowledge_base)s::boolean IS NULL OR %(in_knowledge_base)s::boolean = {{m_is_page}})
), shown AS MATERIALIZED (
    SELECT m.tenant_id, m.bank_id, m.page_id, m.last_refreshed_at, m.last_memory_seen_at
    FROM (SELECT k.page_id FROM matching k
          ORDER BY k.last_refreshed_at DESC NULLS LAST, k.model_id DESC LIMIT %(limit)s::integer OFFSET %(offset)s::integer) AS k
    JOIN mental_models m ON m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = k.page_id
), late AS MATERIALIZED (
    SELECT m.last_memory_seen_at, m.last_refreshed_at, u.xmin AS written_by
    FROM (SELECT DISTINCT s.tenant_id, s.bank_id, s.last_memory_seen_at,
                          CASE WHEN s.last_memory_seen_at IS NULL THEN s.last_refreshed_at END AS last_refreshed_at
          FROM shown s WHERE s.last_refreshed_at IS NOT NULL) AS m
    JOIN memory_units u ON {{u_within_margin_of_m}}
    GROUP BY m.last_memory_seen_at, m.last_refreshed_at, u.xmin
)
SELECT (SELECT count(*) FROM matching) AS total, p.*
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT {{m_columns}}, {{m_is_page}} AS is_page,
           coalesce({{m_staleness_by_time}},
                    CASE WHEN EXISTS (SELECT FROM late l
                                      WHERE coalesce(l.last_memory_seen_at, l.last_refreshed_at) = {{m_seen}}
                                        AND is_unseen('-infinity', l.written_by, 'infinity', m.seen_snapshot))
                         THEN {{m_staleness_by_commit}} END) AS staleness
    FROM shown k
    JOIN mental_models m ON m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = k.page_id
) AS p ON true
ORDER BY p.last_refreshed_at DESC NULLS LAST, p.model_id DESC

-- find --
-- One model as it is.
SELECT {{m_columns}}
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid

-- lock --
-- One model as it is, kept from other writers.
SELECT {{m_columns}}
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid
FOR NO KEY UPDATE

-- change --
-- What the owner says of a model.
UPDATE mental_models
SET name = %(name)s::text, source_query = %(source_query)s::text, max_tokens = %(max_tokens)s::integer, tags = %(tags)s::text[],
    trigger = %(trigger)s::jsonb, scope_types = %(scope_types)s::text[], scope_predicate = %(scope_predicate)s::text,
    scope_variables = %(scope_variables)s::jsonb, stale_predicate = %(stale_predicate)s::text,
    stale_variables = %(stale_variables)s::jsonb, due_at = %(due_at)s::timestamptz, is_paused = false, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- keep_version --
-- The text of a model as a version of its past; where no text is kept, that there was one, for what has read it.
INSERT INTO mental_model_revisions (tenant_id, bank_id, revision_id, page_id, kind, version, content, response, outcome)
SELECT m.tenant_id, m.bank_id, gen_random_uuid(), m.page_id, 'version', m.version,
       CASE WHEN %(with_text)s::boolean THEN m.content ELSE '' END, CASE WHEN %(with_text)s::boolean THEN m.response END,
       CASE WHEN NOT %(with_text)s::boolean THEN 'not_kept' END
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid

-- forget_cited_texts --
-- Of a version that is replaced, what it rests on stays known by id alone.
UPDATE mental_model_citations c SET text = NULL
FROM (SELECT k.version, k.cited_id FROM mental_model_citations k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid AND k.text IS NOT NULL
      ORDER BY k.cited_id, k.version FOR NO KEY UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = locked.version
  AND c.cited_id = locked.cited_id

-- clear --
-- Takes a model's text away; the next refresh writes it anew.
UPDATE mental_models
SET content = '', structure = NULL, embedding = NULL, embedding_model = NULL, response = NULL, version = version + 1, written_query = NULL,
    is_paused = false, seen_snapshot = NULL, last_refreshed_at = NULL, last_memory_seen_at = NULL, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- remove --
-- Removes a model with its history.
DELETE FROM mental_models
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- history --
-- The latest versions and failures of a model, newest first; the text of a version that rests on what is gone is not told.
SELECT r.kind, r.outcome, r.failure_reason, r.error_message, r.changed_at,
       CASE WHEN gone.is_so THEN NULL ELSE r.content END AS content, CASE WHEN gone.is_so THEN NULL ELSE r.response END AS response
FROM (SELECT k.*, row_number() OVER (PARTITION BY k.kind ORDER BY k.sequence DESC) AS place
      FROM mental_model_revisions k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid
        AND k.outcome IS DISTINCT FROM 'not_kept') AS r
CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM mental_model_citations c
                   WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid
                     AND c.version = r.version AND c.memory_id IS NULL) AS is_so) AS gone
WHERE r.place <= %(at_most)s::integer
ORDER BY r.sequence DESC

-- trim --
-- Removes the oldest entries of a model's past beyond a number of each kind; versions without a text push out none that has one.
DELETE FROM mental_model_revisions r
USING (SELECT k.revision_id,
              row_number() OVER (PARTITION BY k.kind, k.outcome IS NOT DISTINCT FROM 'not_kept' ORDER BY k.sequence DESC) AS place
       FROM mental_model_revisions k
       WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid) AS old
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.revision_id = old.revision_id AND old.place > %(kept)s::integer

-- trim_citations --
-- What versions rest on that are no longer kept.
DELETE FROM mental_model_citations c
USING (SELECT k.version, k.cited_id FROM mental_model_citations k
       WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid
         AND k.version <> (SELECT m.version FROM mental_models m
                           WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid)
         AND NOT EXISTS (SELECT FROM mental_model_revisions r
                         WHERE r.tenant_id = k.tenant_id AND r.bank_id = k.bank_id AND r.page_id = k.page_id AND r.kind = 'version'
                           AND r.version = k.version AND r.content IS NOT NULL)
       ORDER BY k.cited_id, k.version FOR UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = locked.version
  AND c.cited_id = locked.cited_id

-- count_in --
-- How many memories a scope reaches, counted up to a bound.
SELECT count(*) AS memories
FROM (SELECT FROM memory_units u
      WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.fact_type = ANY (%(fact_types)s::text[])
        AND {{u_tags_pass}}
      LIMIT %(at_most)s::integer) AS reached

-- reading --
-- What there is in a model's scope that its last refresh did not see, and what this moment's refresh will be taken to have seen.
WITH changed AS MATERIALIZED (
    SELECT u.updated_at,
           is_unseen(u.updated_at, u.xmin, coalesce(m.last_memory_seen_at, m.last_refreshed_at), m.seen_snapshot) AS is_new
    FROM mental_models m
    JOIN memory_units u ON {{u_in_scope_of_m}}
     AND u.updated_at > coalesce(coalesce(m.last_memory_seen_at, m.last_refreshed_at) - interval '5 minutes', '-infinity')
    WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid
)
SELECT (SELECT max(c.updated_at) FROM changed c) AS newest, (SELECT count(*) FROM changed c WHERE c.is_new) AS unseen,
       (SELECT min(c.updated_at) FROM changed c WHERE c.is_new) AS oldest_unseen,
       EXISTS (SELECT FROM mental_models m
               JOIN memory_units u ON {{u_in_scope_of_m}}
               WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid) AS holds,
       pg_current_snapshot()::text AS snapshot, clock_timestamp() AS cutoff

-- staleness --
-- Why a model is stale.
SELECT {{m_staleness}} AS staleness FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid

-- citations --
-- What a model's text rests on.
SELECT c.cited_id AS id, c.kind, coalesce(c.text, '') AS text, c.memory_id IS NULL AS is_gone
FROM mental_model_citations c JOIN mental_models m ON m.tenant_id = c.tenant_id AND m.bank_id = c.bank_id AND m.page_id = c.page_id
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = m.version
ORDER BY c.cited_id

-- are_traceable --
-- How many of these pages are there, none of whose texts since a moment has lost what it rested on.
SELECT count(*) AS pages FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.model_id = ANY (%(ids)s::text[])
  AND NOT EXISTS (SELECT FROM mental_model_revisions r
                  WHERE r.tenant_id = m.tenant_id AND r.bank_id = m.bank_id AND r.page_id = m.page_id AND r.kind = 'version'
                    AND r.changed_at >= %(since)s::timestamptz AND r.content IS NULL)

-- beneath --
-- What the texts that pages had since a moment rested on; what is gone of one of them is gone.
SELECT c.cited_id AS id, min(c.kind) AS kind, coalesce(max(c.text), max(u.text), '') AS text, bool_or(c.memory_id IS NULL) AS is_gone
FROM mental_models m
JOIN mental_model_citations c ON c.tenant_id = m.tenant_id AND c.bank_id = m.bank_id AND c.page_id = m.page_id
LEFT JOIN memory_units u ON u.tenant_id = c.tenant_id AND u.bank_id = c.bank_id AND u.id = c.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.model_id = ANY (%(ids)s::text[])
  AND (c.version = m.version
       OR EXISTS (SELECT FROM mental_model_revisions r
                  WHERE r.tenant_id = c.tenant_id AND r.bank_id = c.bank_id AND r.page_id = c.page_id AND r.kind = 'version'
                    AND r.version = c.version AND r.changed_at >= %(since)s::timestamptz))
GROUP BY c.cited_id
ORDER BY c.cited_id

-- citations_in_sight --
-- What a model's text rests on, each with whether a caller may see it, in the words that it has now.
SELECT c.cited_id AS id, c.kind, u.text, u.id IS NOT NULL AND u.fact_type = ANY (%(fact_types)s::text[]) AND {{u_tags_pass}} AS is_seen
FROM mental_model_citations c
JOIN mental_models m ON m.tenant_id = c.tenant_id AND m.bank_id = c.bank_id AND m.page_id = c.page_id
LEFT JOIN memory_units u ON u.tenant_id = c.tenant_id AND u.bank_id = c.bank_id AND u.id = c.memory_id
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = m.version
ORDER BY c.cited_id

-- vanished --
-- What a model's text rests on that is there no more.
SELECT c.cited_id AS id, c.kind, coalesce(c.text, '') AS text
FROM mental_model_citations c JOIN mental_models m ON m.tenant_id = c.tenant_id AND m.bank_id = c.bank_id AND m.page_id = c.page_id
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = m.version
  AND c.memory_id IS NULL
ORDER BY c.cited_id

-- lock_memories --
-- Memories, kept from being removed, in id order.
SELECT u.id, u.fact_type AS kind, u.text FROM memory_units u
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.id = ANY (%(ids)s::uuid[])
  AND u.fact_type IN ('world', 'experience', 'observation')
ORDER BY u.id
FOR KEY SHARE

-- awaits_consolidation --
-- Whether facts of a bank are about to be consolidated.
SELECT EXISTS (SELECT FROM consolidation_work w
               WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.state = 'pending' AND NOT w.is_rebuild
                 AND w.due_at <= now() + interval '5 minutes' AND w.created_at > now() - interval '1 hour') AS awaits

-- prune --
-- What is gone and that a model's text no longer says anything of.
DELETE FROM mental_model_citations c
USING (SELECT k.version, k.cited_id FROM mental_model_citations k
       WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.page_id = %(page_id)s::uuid AND k.memory_id IS NULL
         AND k.version = (SELECT m.version FROM mental_models m
                          WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid)
       ORDER BY k.cited_id, k.version FOR UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = %(page_id)s::uuid AND c.version = locked.version
  AND c.cited_id = locked.cited_id

-- write --
-- What a refresh came to.
UPDATE mental_models
SET content = %(content)s::text, structure = %(structure)s::jsonb, embedding = %(embedding)s::halfvec(512),
    embedding_model = %(embedding_model)s::text, response = %(response)s::jsonb, version = version + 1, written_query = %(written_query)s::text,
    is_paused = false, seen_snapshot = %(snapshot)s::pg_snapshot, last_refreshed_at = clock_timestamp(),
    last_full_refreshed_at = CASE WHEN %(is_full)s::boolean THEN clock_timestamp() ELSE last_full_refreshed_at END,
    last_memory_seen_at = greatest(last_memory_seen_at, %(seen)s::timestamptz), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- cite --
-- What the text of a model's version rests on; what went meanwhile counts as gone.
INSERT INTO mental_model_citations (tenant_id, bank_id, page_id, version, cited_id, memory_id, kind, text)
SELECT m.tenant_id, m.bank_id, m.page_id, m.version, c.id, CASE WHEN c.is_gone THEN NULL ELSE u.id END, c.kind, c.text
FROM mental_models m
CROSS JOIN unnest(%(ids)s::uuid[], %(kinds)s::text[], %(texts)s::text[], %(gone)s::boolean[]) AS c (id, kind, text, is_gone)
LEFT JOIN memory_units u ON u.tenant_id = m.tenant_id AND u.bank_id = m.bank_id AND u.id = c.id
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid
ORDER BY c.id

-- stamp --
-- A refresh that left the text as it was.
UPDATE mental_models
SET is_paused = false, seen_snapshot = %(snapshot)s::pg_snapshot, last_refreshed_at = clock_timestamp(),
    last_memory_seen_at = greatest(last_memory_seen_at, %(seen)s::timestamptz),
    last_full_refreshed_at = CASE WHEN %(is_full)s::boolean THEN clock_timestamp() ELSE last_full_refreshed_at END, updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- note_failure --
-- A refresh that came to nothing, in a model's past.
INSERT INTO mental_model_revisions (tenant_id, bank_id, revision_id, page_id, kind, version, outcome, failure_reason, error_message)
SELECT m.tenant_id, m.bank_id, gen_random_uuid(), m.page_id, 'failure', m.version, %(outcome)s::text, %(reason)s::text,
       left(%(message)s::text, 2000)
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid

-- failures --
-- How often refreshes of a model failed since the last that did not, and when last.
SELECT count(*) AS number, max(r.changed_at) AS last_at
FROM mental_models m
JOIN mental_model_revisions r ON r.tenant_id = m.tenant_id AND r.bank_id = m.bank_id AND r.page_id = m.page_id AND r.kind = 'failure'
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND m.page_id = %(page_id)s::uuid
  AND (m.last_refreshed_at IS NULL OR r.changed_at > m.last_refreshed_at)

-- pause --
-- Automatic refreshes of a model wait until one succeeds that somebody asked for, or the model is changed.
UPDATE mental_models SET is_paused = true, last_refresh_failed_at = now(), updated_at = now()
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- blank_past --
-- Takes the text from former versions that rest on what is gone.
UPDATE mental_model_revisions r SET content = NULL, response = NULL
WHERE r.tenant_id = %(tenant_id)s AND r.bank_id = %(bank_id)s::uuid AND r.page_id = %(page_id)s::uuid AND r.kind = 'version'
  AND (r.content IS NOT NULL OR r.response IS NOT NULL)
  AND EXISTS (SELECT FROM mental_model_citations c
              WHERE c.tenant_id = r.tenant_id AND c.bank_id = r.bank_id AND c.page_id = r.page_id AND c.version = r.version
                AND c.memory_id IS NULL)

-- put_off_mending --
-- A deletion that a model was not mended after is looked at again later.
UPDATE mental_models SET mend_at = now() + interval '15 minutes'
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid

-- move_citations --
-- What rested on an observation that was merged into another rests on that one.
UPDATE mental_model_citations c SET cited_id = %(into)s::uuid, memory_id = %(into)s::uuid
FROM (SELECT k.page_id, k.version FROM mental_model_citations k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.memory_id = %(observation_id)s::uuid
        AND NOT EXISTS (SELECT FROM mental_model_citations t
                        WHERE t.tenant_id = k.tenant_id AND t.bank_id = k.bank_id AND t.page_id = k.page_id AND t.version = k.version
                          AND t.cited_id = %(into)s::uuid)
      ORDER BY k.cited_id, k.page_id, k.version FOR UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = locked.page_id AND c.version = locked.version
  AND c.cited_id = %(observation_id)s::uuid

-- drop_moved --
-- What rested on both observations of a merge rests on the one that stays.
DELETE FROM mental_model_citations c
USING (SELECT k.page_id, k.version, k.cited_id FROM mental_model_citations k
       WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.memory_id = %(observation_id)s::uuid
       ORDER BY k.cited_id, k.page_id, k.version FOR UPDATE) AS locked
WHERE c.tenant_id = %(tenant_id)s AND c.bank_id = %(bank_id)s::uuid AND c.page_id = locked.page_id AND c.version = locked.version
  AND c.cited_id = locked.cited_id

-- candidates --
-- Stale models that are refreshed after consolidation and that scopes with these tags concern, but for those that will be anyway.
SELECT {{m_columns}}
FROM mental_models m
WHERE m.tenant_id = %(tenant_id)s AND m.bank_id = %(bank_id)s::uuid AND NOT m.is_paused
  AND (m.trigger ->> 'refresh_after_consolidation')::boolean
  AND (m.tags && %(tags)s::text[] OR m.scope_predicate IS NULL
       OR jsonb_path_match('[]', m.scope_predicate::jsonpath, m.scope_variables)
       OR EXISTS (SELECT FROM jsonb_array_elements(%(scopes)s::jsonb) AS changed
                  WHERE jsonb_path_match(changed, m.scope_predicate::jsonpath, m.scope_variables)))
  AND NOT EXISTS (SELECT FROM operations o
                  WHERE o.tenant_id = m.tenant_id AND o.bank_id = m.bank_id AND o.page_id = m.page_id
                    AND (o.status = 'processing' OR (o.status = 'pending' AND o.due_at <= now())))
  AND ({{m_staleness}}) IS NOT NULL
ORDER BY m.page_id

-- take_marks --
-- The scopes of a bank whose observations changed since its pages were last looked at; none while other scopes have work due.
UPDATE scopes s SET unread_since = NULL
FROM (SELECT k.scope_id FROM scopes k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.unread_since IS NOT NULL
        AND (%(even_if_busy)s::boolean OR NOT EXISTS (
            SELECT FROM consolidation_work w
            WHERE w.tenant_id = %(tenant_id)s AND w.bank_id = %(bank_id)s::uuid AND w.state = 'pending' AND w.due_at <= now()
              AND NOT w.is_rebuild))
      ORDER BY k.scope_id FOR NO KEY UPDATE SKIP LOCKED) AS marked
WHERE s.tenant_id = %(tenant_id)s AND s.bank_id = %(bank_id)s::uuid AND s.scope_id = marked.scope_id
RETURNING s.tags

-- schedule --
-- When a model's schedule is looked at next.
UPDATE mental_models SET due_at = %(due_at)s::timestamptz
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND page_id = %(page_id)s::uuid
