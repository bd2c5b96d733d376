"""Globs over bank ids mean in Postgres what they mean to access.sees_bank."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hindsight_aws.store.patterns import glob_regex
from tests.support.database import Database

_CHARACTERS = "ab-]![*?^\\.$(|)+{é🙂\n"
_TEXTS = st.lists(st.text(_CHARACTERS, max_size=4), min_size=1, max_size=8)
_GLOBS = st.lists(st.text(_CHARACTERS, max_size=7), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def connection(module_database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(module_database.read_url, autocommit=True) as opened:
        yield opened


@given(_GLOBS, _TEXTS)
@example(["user-*", "team-?"], ["user-", "user-1\n", "team-12", "a user-1", ""])
@example(
    ["[a-b]", "[!a-b]", "[b-a]", "[!b-a]", "[]-a]", "[a-]", "[!]a]", "[", "[]", "[a", "a[b-]b"],
    ["a", "b", "]", "-", "[", "[]"],
)
def test_a_glob_covers_the_same_texts_in_postgres(
    connection: psycopg.Connection[tuple[object, ...]], globs: list[str], texts: list[str]
) -> None:
    expected = [any(fnmatchcase(text, glob) for glob in globs) for text in texts]

    rows = connection.execute(
        "SELECT t.text ~ %(regex)s FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS t (text, place) ORDER BY t.place",
        {"regex": glob_regex(globs), "texts": texts},
    ).fetchall()

    assert [row[0] for row in rows] == expected
