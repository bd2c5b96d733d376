-- used --
-- What the calls of all attempts at an operation used, as callers are told.
(SELECT jsonb_build_object(
    'input_tokens', coalesce(sum(u.input_tokens + u.cache_read_tokens + u.cache_write_tokens), 0),
    'output_tokens', coalesce(sum(u.output_tokens), 0),
    'total_tokens', coalesce(sum(u.input_tokens + u.cache_read_tokens + u.cache_write_tokens + u.output_tokens), 0),
    'cached_tokens', coalesce(sum(u.cache_read_tokens), 0), 'thoughts_tokens', 0)
 FROM usage_ledger u
 WHERE u.tenant_id = %(tenant_id)s AND u.operation_id = %(operation_id)s::uuid AND u.prompt IS NOT NULL)
