"""Databases made from a template in a tenth of a second, so that each test has its own. Called by stack and tests."""

import psycopg
from psycopg import sql


def create_database(server_url: str, name: str) -> bool:
    """Makes an empty database unless there is one of that name; says whether it did. `server_url` is a superuser's."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return known is None


def clone_database(server_url: str, template: str, name: str) -> None:
    """Makes `name` a copy of `template`, which nobody may be connected to. Raises: psycopg.Error."""
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY wal_log")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def drop_database(server_url: str, name: str) -> None:
    """Drops a database, whoever is still connected."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
