"""Every named query is sound against the schema, filters by tenant, and is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import hindsight_aws.store
from hindsight_aws.store.queries import Query, queries
from tests.support.database import Database
from tests.support.statements import topics

_EVERY = [(topic, query) for topic in topics() for query in queries(topic).values()]
_WITHOUT_TENANT = {"transaction", "crossing", "inspection"}
"""Statements that belong to no tenant: they open transactions, look keys up, or look at the database itself."""
_UTILITY = (
    b"BEGIN", b"BEGIN ISOLATION LEVEL REPEATABLE READ", b"COMMIT", b"ROLLBACK", b"SAVEPOINT mark",
    b"ROLLBACK TO SAVEPOINT mark", b"SAVEPOINT part", b"ROLLBACK TO SAVEPOINT part",
)  # fmt: skip
"""What the server does not prepare."""
_PLACEHOLDER = re.compile(rb"%\((\w+)\)[sbt]")
_TYPES = {b"tenant_id": b"::uuid", b"bank_id": b"::uuid"}


@pytest.fixture(scope="module")
def owner(module_database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(module_database.owner_url, autocommit=True) as connection:
        connection.execute("SET search_path = hindsight, public")
        yield connection


@pytest.mark.parametrize(
    ("topic", "query"),
    [(topic, query) for topic, query in _EVERY if query.text not in _UTILITY],
    ids=lambda part: part.name if isinstance(part, Query) else part,
)
def test_a_query_can_be_prepared(owner: psycopg.Connection[tuple[object, ...]], topic: str, query: Query) -> None:
    owner.execute(b"PREPARE checked AS " + _numbered(query.text))
    owner.execute("DEALLOCATE checked")


@pytest.mark.parametrize(("topic", "query"), _EVERY, ids=lambda part: part.name if isinstance(part, Query) else part)
def test_a_query_names_its_tenant(topic: str, query: Query) -> None:
    if topic not in _WITHOUT_TENANT and "set_config" not in query.text.decode():
        assert b"%(tenant_id)s" in query.text


def test_every_query_is_used() -> None:
    used = _names_used()

    unused = [f"{topic}.{query.name}" for topic, query in _EVERY if (topic, query.name) not in used]

    assert unused == []


def _names_used() -> set[tuple[str, str]]:
    """Names in subscripts and in plain text of the modules that load a topic."""
    folder = Path(hindsight_aws.store.__file__).parent
    used: set[tuple[str, str]] = set()
    for module in folder.rglob("*.py"):
        source = module.read_text("utf-8")
        for topic in re.findall(r'queries\("(\w+)"\)', source):
            used.update((topic, name) for name in re.findall(r'"(\w+)"', source))
            used.update((topic, query.name) for query in queries(topic).values() if _is_built(query.name, source))
    return used


def _is_built(name: str, source: str) -> bool:
    """Whether a module makes the name from parts: `f"semantic_index_{fact_type}"`."""
    return any(
        re.fullmatch(re.sub(r"\{[^}]*\}", r"\\w+", part), name) for part in re.findall(r'f"(\w*\{[^}]*\}\w*)"', source)
    )


def _numbered(text: bytes) -> bytes:
    numbers: dict[bytes, int] = {}

    def number(found: re.Match[bytes]) -> bytes:
        place = numbers.setdefault(found[1], len(numbers) + 1)
        return b"$%d" % place + _TYPES.get(found[1], b"")

    return _PLACEHOLDER.sub(number, text).replace(b"%%", b"%")
