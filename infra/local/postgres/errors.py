"""What can keep the local Postgres from running."""


class PostgresError(RuntimeError):
    """The database server cannot run; the message says why and what to do, for a person to read."""
