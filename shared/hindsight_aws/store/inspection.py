"""Looks at the database itself rather than at a tenant: for `doctor` and for whoever administers it.

Calls sql/inspection.sql.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import dict_row

from hindsight_aws.ports.tenants import TenantSummary
from hindsight_aws.store.connection import ConnectionHolder, Row
from hindsight_aws.store.queries import queries

_SQL = queries("inspection")


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """A role, and what would make it unfit for a function."""

    name: str
    is_superuser: bool
    bypasses_policies: bool
    owns_tables: bool


class Inspection:
    """Questions about a database that belong to no tenant.  Every method may raise DatabaseUnavailable."""

    def __init__(self, conninfo: Callable[[], str], connect_for_s: float) -> None:
        self._holder = ConnectionHolder(conninfo, connect_for_s)

    def role(self) -> RoleFacts:
        """The connected role."""
        row = self._rows("role")[0]
        return RoleFacts(row["name"], row["is_superuser"], row["bypasses_policies"], row["owns_tables"])

    def function_roles(self) -> list[RoleFacts]:
        """The roles that functions sign in as; fewer than two where one was never made."""
        return [
            RoleFacts(row["name"], row["is_superuser"], row["bypasses_policies"], row["owns_tables"])
            for row in self._rows("function_roles")
        ]

    def tables_that_readers_write(self) -> list[str]:
        """Tables that hindsight_read may write, but for the ledger, into which it inserts."""
        return [row["name"] for row in self._rows("tables_that_readers_write")]

    def now(self) -> datetime:
        """The database's clock."""
        moment: datetime = self._rows("now")[0]["now"]
        return moment

    def unforced_tables(self) -> list[str]:
        """Tables that functions may touch and whose policies do not bind everybody."""
        return [row["name"] for row in self._rows("unforced")]

    def vector_version(self) -> str | None:
        """The version of pgvector, or None."""
        rows = self._rows("vector_version")
        return rows[0]["version"] if rows else None

    def vector_offered(self) -> str | None:
        """The version of pgvector that the server brings, or None."""
        rows = self._rows("vector_offered")
        return rows[0]["version"] if rows else None

    def table_count(self) -> int:
        """How many tables the schema has; 0 before the first migration."""
        return int(self._rows("tables")[0]["tables"])

    def tenants(self) -> list[TenantSummary]:
        """Every tenant, oldest first; only the owner's role sees them."""
        return [
            TenantSummary(row["tenant_id"], row["name"], row["created_at"], row["suspended_at"])
            for row in self._rows("tenants")
        ]

    def close(self) -> None:
        """Closes the connection."""
        self._holder.drop()

    def _rows(self, name: str) -> list[Row]:
        with self._holder.get().cursor(row_factory=dict_row) as cursor:
            return cursor.execute(_SQL[name].text).fetchall()
