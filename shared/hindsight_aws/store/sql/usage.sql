-- record --
-- Lines of the usage ledger; one that is there already, after a commit nobody heard of, stays as it is.
INSERT INTO usage_ledger
    (tenant_id, entry_id, bank_id, operation_id, run_id, subject, task, model_id, prompt, status, input_tokens, output_tokens,
     cache_read_tokens, cache_write_tokens, calls, usd, latency_ms)
SELECT %(tenant_id)s, n.entry_id, n.bank_id, n.operation_id, n.run_id, n.subject, n.task, n.model_id, n.prompt, n.status,
       n.input_tokens, n.output_tokens, n.cache_read_tokens, n.cache_write_tokens, n.calls, n.usd, n.latency_ms
FROM jsonb_to_recordset(%(entries)s::jsonb) AS n
    (entry_id uuid, bank_id uuid, operation_id uuid, run_id uuid, subject text, task text, model_id text, prompt text, status text,
     input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, calls integer,
     usd numeric(18, 9), latency_ms integer)
ON CONFLICT DO NOTHING

-- of_bank --
-- What a bank's model calls came to, by task and model; calls that the price table did not know are counted, not priced.
SELECT task, model_id, sum(calls)::bigint AS calls, coalesce(sum(calls) FILTER (WHERE status <> 'ok'), 0)::bigint AS failed_calls,
       sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
       sum(cache_read_tokens)::bigint AS cache_read_tokens, sum(cache_write_tokens)::bigint AS cache_write_tokens,
       sum(usd) AS usd, coalesce(sum(calls) FILTER (WHERE usd IS NULL), 0)::bigint AS unpriced_calls
FROM usage_ledger
WHERE tenant_id = %(tenant_id)s AND bank_id = %(bank_id)s::uuid
  AND at >= coalesce(%(start)s::timestamptz, '-infinity') AND at < coalesce(%(end)s::timestamptz, 'infinity')
GROUP BY task, model_id
ORDER BY task, model_id

-- of_run --
-- The model calls of one reflect run, in the order in which they ended.
SELECT task, status, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, usd, latency_ms
FROM usage_ledger WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
ORDER BY at, entry_id
