"""The stack's database: our server or the one of DATABASE_URL, and each role's way in. Called by the supervisor."""

import secrets
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from infra.local.faults import WireProxy
from infra.local.faults.wire import Upstream
from infra.local.postgres import create_database
from infra.topology import DatabaseRole

DATABASE: Final = "hindsight"


def role_urls(server_url: str, wire: WireProxy | None, password: str | None) -> dict[str, str]:
    """Each role class's connection string to the product's database; through the wire proxy when there is one.

    What migrates is the administrator, as with its secret in the cloud: it makes the other roles.
    """
    urls = {role.value: _role_url(server_url, role.database_user, wire, password) for role in DatabaseRole}
    return urls | {DatabaseRole.MIGRATE.value: superuser_url(server_url)}


def superuser_url(server_url: str) -> str:
    """The superuser's connection string to the product's database."""
    parts = urlsplit(server_url)
    return urlunsplit(parts._replace(path=f"/{DATABASE}"))


def ensure_database(server_url: str) -> None:
    """Makes the product's database when it is missing."""
    create_database(server_url, DATABASE)


def upstream_of(server_url: str) -> Upstream:
    """Where the wire proxy has to forward to."""
    found = conninfo_to_dict(server_url)
    host, port = str(found.get("host") or "127.0.0.1"), int(str(found.get("port") or 5432))
    if host.startswith("/"):
        return Upstream(path=f"{host}/.s.PGSQL.{port}")
    return Upstream(host=host, port=port)


def make_password() -> str:
    """A password for the roles on a server that asks for one; a new one per start."""
    return secrets.token_urlsafe(24)


def set_passwords(url: str, password: str) -> None:
    """Lets the roles log in with that password."""
    with psycopg.connect(url, autocommit=True) as connection:
        for role in DatabaseRole:
            statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
            connection.execute(statement.format(sql.Identifier(role.database_user), sql.Literal(password)))


def _role_url(server_url: str, user: str, wire: WireProxy | None, password: str | None) -> str:
    login = quote(user) + (f":{quote(password, safe='')}" if password else "")
    if wire is not None:
        return f"postgresql://{login}@/{DATABASE}?host={quote(str(wire.folder), safe='/')}"
    parts = urlsplit(server_url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{login}@{place}", path=f"/{DATABASE}"))
