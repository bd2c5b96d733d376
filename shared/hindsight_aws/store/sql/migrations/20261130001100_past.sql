-- Recall of the past: the vectors of former wordings and of facts out of use, and what was believed at a moment.
-- depends: 20261130000900_recall

-- They go with the text: whoever blanks a revision takes its vector out as well.
ALTER TABLE observation_revisions ADD COLUMN embedding halfvec(512), ADD COLUMN embedding_model text;
ALTER TABLE observation_revisions ALTER COLUMN embedding SET STORAGE EXTERNAL;
COMMENT ON COLUMN observation_revisions.embedding IS 'of a new wording alone; a revision that left the wording as it was has none';
ALTER TABLE invalidated_memory_units ADD COLUMN embedding halfvec(512), ADD COLUMN embedding_model text;
ALTER TABLE invalidated_memory_units ALTER COLUMN embedding SET STORAGE EXTERNAL;

-- Functions, so that a statement which asks about the present is planned as if the question of the past were not in it.
-- They keep their plans, whatever the statement that calls them does: planned anew for each row, they took ten times as long.

-- Whether an observation stood in these words at a moment; never for one whose scope has been made anew since.
CREATE FUNCTION observation_was_worded(tenant uuid, bank uuid, observation uuid, wording text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN coalesce((
        SELECT r.kind NOT IN ('merge', 'delete') AND r.text = wording AND s.rebuilds IS NULL
               AND (s.rebuilt_at IS NULL OR s.rebuilt_at <= at)
        FROM hindsight.observation_revisions r
        JOIN hindsight.scopes s ON s.tenant_id = r.tenant_id AND s.bank_id = r.bank_id AND s.scope_id = r.scope_id
        WHERE r.tenant_id = tenant AND r.bank_id = bank AND r.observation_id = observation AND r.changed_at <= at
        ORDER BY r.sequence DESC LIMIT 1), false);
END
$$;

-- Whether a fact that has been out of use was in use at a moment: what was last done to it by then was not to invalidate it.
CREATE FUNCTION fact_was_in_use(tenant uuid, bank uuid, fact uuid, document uuid, at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN coalesce((
        SELECT d.kind <> 'fact_invalidated'
        FROM hindsight.document_revisions d
        WHERE d.tenant_id = tenant AND d.bank_id = bank AND d.document_id = document
          AND d.kind IN ('fact_invalidated', 'fact_restored') AND d.detail ->> 'fact_id' = fact::text AND d.created_at <= at
        ORDER BY d.created_at DESC, d.revision_id LIMIT 1), true);
END
$$;
