-- record --
-- Lines of the usage ledger; one that is there already, after a commit nobody heard of, stays as it is.  None comes before what is added up.
INSERT INTO usage_ledger
    (tenant_id, entry_id, bank_id, operation_id, run_id, subject, task, model_id, prompt, status, input_tokens, output_tokens,
     cache_read_tokens, cache_write_tokens, calls, usd, latency_ms, at)
SELECT %(tenant_id)s, n.entry_id, n.bank_id, n.operation_id, n.run_id, n.subject, n.task, n.model_id, n.prompt, n.status,
       n.input_tokens, n.output_tokens, n.cache_read_tokens, n.cache_write_tokens, n.calls, n.usd, n.latency_ms,
       greatest(least(coalesce(n.at, now()), now()), now() - interval '15 minutes')
FROM jsonb_to_recordset(%(entries)s::jsonb) AS n
    (entry_id uuid, bank_id uuid, operation_id uuid, run_id uuid, subject text, task text, model_id text, prompt text, status text,
     input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, calls integer,
     usd numeric(18, 9), latency_ms integer, at timestamptz)
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

-- of_tenant --
-- What the tenant's model calls came to, by day, bank, task or model; a bank that is gone goes by its UUID, calls of none by a dash.
SELECT CASE %(by)s::text WHEN 'day' THEN to_char(u.at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                         WHEN 'bank' THEN coalesce(b.external_id, u.bank_id::text, '-')
                         WHEN 'task' THEN u.task ELSE u.model_id END AS name,
       sum(u.calls)::bigint AS calls, coalesce(sum(u.calls) FILTER (WHERE u.status <> 'ok'), 0)::bigint AS failed_calls,
       sum(u.input_tokens)::bigint AS input_tokens, sum(u.output_tokens)::bigint AS output_tokens,
       sum(u.cache_read_tokens)::bigint AS cache_read_tokens, sum(u.cache_write_tokens)::bigint AS cache_write_tokens,
       sum(u.usd) AS usd, coalesce(sum(u.calls) FILTER (WHERE u.usd IS NULL), 0)::bigint AS unpriced_calls
FROM usage_ledger u LEFT JOIN banks b ON b.tenant_id = u.tenant_id AND b.bank_id = u.bank_id
WHERE u.tenant_id = %(tenant_id)s AND u.at >= %(start)s::timestamptz AND u.at < %(end)s::timestamptz AND u.task <> 'requests'
GROUP BY 1 ORDER BY 1

-- of_run --
-- The model calls of one reflect run, in the order in which they ended.
SELECT task, status, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, usd, latency_ms
FROM usage_ledger WHERE tenant_id = %(tenant_id)s AND run_id = %(run_id)s::uuid
ORDER BY at, entry_id
