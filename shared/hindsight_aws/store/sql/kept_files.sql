-- add --
-- A file that is about to be kept.
INSERT INTO kept_files (tenant_id, bank_id, file_id, object_key, filename, content_type, size, operation_id, retain_operation_id)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(file_id)s::uuid, %(key)s::text, %(filename)s::text, %(content_type)s::text, %(size)s::bigint,
        %(operation_id)s::uuid, %(retain_operation_id)s::uuid)

-- condemn --
-- Takes a bank's files that no document holds, or will, out of every document's reach, in id order; those taken before too.
UPDATE kept_files AS f SET is_condemned = true
FROM (SELECT k.file_id FROM kept_files k
      WHERE k.tenant_id = %(tenant_id)s AND k.bank_id = %(bank_id)s::uuid AND k.document_id IS NULL
        AND (k.is_condemned OR k.held_at IS NOT NULL
             OR k.created_at < now() - interval '1 day'
                AND NOT EXISTS (SELECT FROM operations o
                                WHERE o.tenant_id = %(tenant_id)s AND o.operation_id IN (k.operation_id, k.retain_operation_id)
                                  AND o.status IN ('pending', 'processing')))
      ORDER BY k.file_id LIMIT %(at_most)s::integer FOR UPDATE SKIP LOCKED) AS u
WHERE f.tenant_id = %(tenant_id)s AND f.bank_id = %(bank_id)s::uuid AND f.file_id = u.file_id
RETURNING f.file_id, f.object_key

-- remove --
-- Removes condemned files, whose bytes are gone.
DELETE FROM kept_files
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND file_id = ANY (%(file_ids)s::uuid[]) AND is_condemned
