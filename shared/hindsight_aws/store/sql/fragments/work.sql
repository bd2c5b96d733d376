-- clean_slate --
-- What makes consolidation work pending as if it were new; when it is due is said beside it.
state = 'pending', outcome = NULL, done_at = NULL, failed_at = NULL, error = NULL,
attempts = 0, looks = 0, calls = 0, deferrals = 0, revivals = 0, refused_delete = false

-- w_is_covered --
-- The work w is within what an operation covers; without an operation all of it is.
(%(operation_id)s::uuid IS NULL OR EXISTS (
    SELECT FROM operations o
    WHERE o.tenant_id = w.tenant_id AND o.bank_id = w.bank_id AND o.operation_id = %(operation_id)s::uuid
      AND (o.payload -> 'scope_ids' IS NULL OR o.payload -> 'scope_ids' ? w.scope_id::text)))

-- w_passes_filters --
-- The fact f of the work w, or its scope s, holds all tags of one of the filters; without filters all work passes.
(%(filters)s::jsonb IS NULL OR EXISTS (
    SELECT FROM jsonb_array_elements(%(filters)s::jsonb) AS wanted
    WHERE s.tags @> ARRAY(SELECT jsonb_array_elements_text(wanted)) OR f.tags @> ARRAY(SELECT jsonb_array_elements_text(wanted))))

-- batch_locked --
-- The pending work of a batch, kept from change in order.
SELECT k.work_id FROM consolidation_work k
WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s AND k.work_id = ANY(%(work_ids)s::uuid[]) AND k.state = 'pending'
ORDER BY k.work_id
FOR UPDATE
