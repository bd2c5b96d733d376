-- Tenants, keys and banks: who may ask, and what is isolated from what.
-- depends:

CREATE TABLE tenants (
    tenant_id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    key_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    subject text NOT NULL,
    permissions text[] NOT NULL CHECK (permissions <@ ARRAY['read', 'write', 'admin'] AND cardinality(permissions) > 0),
    bank_patterns text[] NOT NULL DEFAULT '{*}' CHECK (cardinality(bank_patterns) > 0),
    forced_tags jsonb,
    fact_types text[] CHECK (fact_types <@ ARRAY['world', 'experience', 'observation'] AND cardinality(fact_types) > 0),
    exact_scopes jsonb,
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id)
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (key_hash);

CREATE TABLE banks (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    bank_id uuid NOT NULL,
    external_id text NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 192),
    name text,
    config jsonb NOT NULL DEFAULT '{}',
    embedding_model text,
    link_lease_until timestamptz NOT NULL DEFAULT '-infinity',
    link_fence bigint NOT NULL DEFAULT 0,
    link_woken boolean NOT NULL DEFAULT false,
    last_write_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id)
);
CREATE UNIQUE INDEX banks_external ON banks (tenant_id, external_id);
CREATE INDEX banks_recent ON banks (tenant_id, last_write_at DESC NULLS LAST, external_id);

-- Live facts and their term count by type, as shards that writers pick at random: sums are exact, one writer does not wait for another.
CREATE TABLE bank_counters (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    fact_type text NOT NULL CHECK (fact_type IN ('world', 'experience', 'observation')),
    shard smallint NOT NULL,
    units bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, bank_id, fact_type, shard),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);

CREATE TABLE directives (
    tenant_id uuid NOT NULL,
    bank_id uuid NOT NULL,
    directive_id uuid NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    tags text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, bank_id, directive_id),
    FOREIGN KEY (tenant_id, bank_id) REFERENCES banks ON DELETE CASCADE
);
