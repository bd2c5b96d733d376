"""Looks at rows, and changes them, behind the product's back: a part of what tests of a use case work with."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from tests.support.admin import admin
from tests.support.database import Database


class SeesRows:
    """Whoever has a database."""

    database: Database

    def rows(self, query: str, *params: object) -> list[dict[str, Any]]:
        """Rows as the superuser sees them."""
        with admin(self.database.admin_url) as connection:
            return connection.cursor(row_factory=dict_row).execute(query.encode(), params).fetchall()

    def change(self, statement: str, *params: object) -> None:
        """Changes rows as the superuser may."""
        with admin(self.database.admin_url) as connection:
            connection.execute(statement.encode(), params)
