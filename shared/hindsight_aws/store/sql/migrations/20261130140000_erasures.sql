-- Erasures: what was asked to be gone, how far that is, and the receipt; they outlive what they erased.
-- depends: 20261130002310_audit_log

-- No reference to the bank: the row is what a late message of an erased bank finds of it.
CREATE TABLE erasures (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    erasure_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    bank text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('bank', 'tags')),
    tags text[] NOT NULL DEFAULT '{}',
    match text CHECK (match IN ('any', 'all')),
    subject text NOT NULL,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'objects', 'unsigned', 'signed')),
    erased jsonb NOT NULL DEFAULT '{}',
    blanked jsonb NOT NULL DEFAULT '{}',
    queues jsonb NOT NULL DEFAULT '{}',
    object_keys text[] NOT NULL DEFAULT '{}',
    objects integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fence bigint NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    digest text,
    key_id text,
    algorithm text,
    signature text,
    signed_at timestamptz,
    PRIMARY KEY (tenant_id, erasure_id),
    CHECK ((kind = 'tags') = (match IS NOT NULL)),
    CHECK ((state IN ('unsigned', 'signed')) = (digest IS NOT NULL)),
    CHECK ((state = 'signed') = (signature IS NOT NULL))
);
CREATE UNIQUE INDEX erasures_tombstone ON erasures (tenant_id, bank_id) WHERE kind = 'bank';
CREATE INDEX erasures_recent ON erasures (tenant_id, started_at DESC, erasure_id);
CREATE INDEX erasures_due ON erasures (due_at) WHERE state <> 'signed';
COMMENT ON COLUMN erasures.bank_id IS 'the bank''s generation: one made again under the same name is another';
COMMENT ON COLUMN erasures.erased IS 'rows that went, by table, those that went with others included';
COMMENT ON COLUMN erasures.blanked IS 'rows that stay without their text, by table';
COMMENT ON COLUMN erasures.queues IS 'work that waited and will not be done, by kind';
COMMENT ON COLUMN erasures.object_keys IS 'stored files that are still to be deleted';
COMMENT ON COLUMN erasures.digest IS 'SHA-256 of the receipt''s canonical form, in hexadecimal';

ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON erasures USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY route_erasures ON erasures FOR SELECT TO hindsight_router USING (true);
GRANT SELECT ON erasures TO hindsight_read, hindsight_write, hindsight_router;
GRANT INSERT, UPDATE ON erasures TO hindsight_write;

-- A bank too large for one transaction is out of reach at once and goes slice by slice.
ALTER TABLE banks ADD COLUMN erased_at timestamptz;
COMMENT ON COLUMN banks.erased_at IS 'since when nobody finds the bank any more: its rows are being deleted';

CREATE FUNCTION due_work(at_most integer, states text[])
RETURNS TABLE (tenant_id uuid, kind text, bank_id uuid, id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = hindsight, pg_temp
AS $$
    SELECT e.tenant_id, 'erasure', e.bank_id, e.erasure_id
    FROM erasures e
    WHERE e.state <> 'signed' AND e.state = ANY (states) AND e.due_at <= now() AND e.lease_until < now()
    ORDER BY e.due_at LIMIT at_most
$$;
REVOKE ALL ON FUNCTION due_work(integer, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_work(integer, text[]) TO hindsight_write;
ALTER FUNCTION due_work(integer, text[]) OWNER TO hindsight_router;
