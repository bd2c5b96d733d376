"""What runbooks tell an operator to ask the database: every statement is planned by it, as the owner who asks."""

import re
from pathlib import Path
from uuid import uuid4

import psycopg

from tests.support.database import Database

_DOCS = Path(__file__).resolve().parents[3] / "docs"
_BLOCK = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SESSION = "runbooks/README.md"
"""How a session begins, before whatever the other pages ask."""


def _statements(page: Path) -> list[str]:
    blocks = "\n".join(_BLOCK.findall(page.read_text(encoding="utf-8")))
    return [statement.strip() for statement in blocks.split(";") if statement.strip()]


_PAGES = {str(page.relative_to(_DOCS)): found for page in sorted(_DOCS.rglob("*.md")) if (found := _statements(page))}


def test_pages_ask_the_database_for_what_there_is(module_database: Database) -> None:
    asked = [(page, statement) for page in sorted(set(_PAGES) - {_SESSION}) for statement in _PAGES[page]]
    refused = []

    with psycopg.connect(module_database.admin_url, autocommit=True) as session:
        for statement in _PAGES[_SESSION]:
            session.execute(statement.replace("<id of the tenant>", str(uuid4())).encode())
        for page, statement in asked:
            try:
                session.execute(f"EXPLAIN {statement}".encode())
            except psycopg.Error as error:
                refused.append(f"{page}: {error}")

    assert len(asked) > 8
    assert refused == []
