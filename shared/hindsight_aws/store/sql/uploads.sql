-- add --
-- An upload that somebody was given a ticket for.
INSERT INTO uploads (tenant_id, bank_id, upload_id, subject, object_key, filename, content_type, size)
VALUES (%(tenant_id)s, %(bank_id)s::uuid, %(upload_id)s::uuid, %(subject)s, %(key)s, %(filename)s, %(content_type)s, %(size)s::bigint)

-- find --
-- Announced uploads, of one subject or of anybody.
SELECT upload_id, subject, object_key AS key, filename, content_type, size, operation_id
FROM uploads
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND upload_id = ANY (%(upload_ids)s::uuid[])
  AND (%(subject)s::text IS NULL OR subject = %(subject)s::text)

-- take --
-- Announced uploads, kept from other requests that name them, in id order.
SELECT upload_id, subject, object_key AS key, filename, content_type, size, operation_id
FROM uploads
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND upload_id = ANY (%(upload_ids)s::uuid[])
ORDER BY upload_id
FOR NO KEY UPDATE

-- assign --
-- Notes the operation that retains an upload.
UPDATE uploads SET operation_id = %(operation_id)s::uuid
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid AND upload_id = %(upload_id)s::uuid

-- forget --
-- Removes a bank's uploads whose bytes have expired; one that another request is taking is left for the next time.
DELETE FROM uploads AS u
USING (SELECT o.upload_id FROM uploads o
       WHERE o.tenant_id = %(tenant_id)s AND o.bank_id = %(bank_id)s::uuid AND o.created_at < %(before)s::timestamptz
       ORDER BY o.upload_id LIMIT 100 FOR UPDATE SKIP LOCKED) AS old
WHERE u.tenant_id = %(tenant_id)s AND u.bank_id = %(bank_id)s::uuid AND u.upload_id = old.upload_id
