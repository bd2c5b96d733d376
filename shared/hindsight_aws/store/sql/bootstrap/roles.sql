-- Roles of the product, made once by whoever administers the server; safe to run again.
-- App roles neither own a table nor bypass row-level security; hindsight_router owns the two functions that cross tenants.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['hindsight_owner', 'hindsight_write', 'hindsight_read', 'hindsight_router'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS INHERIT', wanted);
        END IF;
    END LOOP;
END
$$;

ALTER ROLE hindsight_owner LOGIN;
ALTER ROLE hindsight_write LOGIN;
ALTER ROLE hindsight_read LOGIN;

-- An administrator that is no superuser (RDS) may hand objects to a role only as its member.
DO $$
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT hindsight_owner TO %I WITH INHERIT FALSE, SET TRUE', current_user);
    END IF;
END
$$;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'hindsight') THEN
        CREATE SCHEMA hindsight AUTHORIZATION hindsight_owner;
    END IF;
END
$$;

-- On RDS functions log in with IAM tokens, and an idle session must not keep a paused database awake.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam') THEN
        GRANT rds_iam TO hindsight_write, hindsight_read;
        ALTER ROLE hindsight_write SET idle_session_timeout = '60s';
        ALTER ROLE hindsight_read SET idle_session_timeout = '60s';
    END IF;
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA hindsight TO hindsight_write, hindsight_read, hindsight_router;
ALTER ROLE hindsight_owner SET search_path = hindsight, public;
ALTER ROLE hindsight_write SET search_path = hindsight, public;
ALTER ROLE hindsight_read SET search_path = hindsight, public;

-- Only `vector` is required; the others are used when the server offers them.
CREATE EXTENSION IF NOT EXISTS vector;
DO $$
DECLARE
    optional text;
BEGIN
    FOREACH optional IN ARRAY ARRAY['pg_trgm', 'unaccent', 'btree_gin'] LOOP
        IF EXISTS (SELECT FROM pg_available_extensions WHERE name = optional) THEN
            EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', optional);
        END IF;
    END LOOP;
END
$$;
