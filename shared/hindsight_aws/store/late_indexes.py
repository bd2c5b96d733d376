"""Indexes that take longer than a deployment may: built beside the traffic, one by one, by whoever asks for it.

Each is a file of sql/late named like the index.  Called by the CLI and by migrator.py; a killed run is run again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, cast

import psycopg
from psycopg import sql

from hindsight_aws.errors import DatabaseUnavailable, HindsightError

_ADVISORY_LOCK: Final = 0x4853_4C49  # "HSLI": one builder at a time in a database
_CONNECT_S: Final = 10
_SETTINGS: Final = (
    "-c role=hindsight_owner -c search_path=hindsight,public -c statement_timeout=0 -c lock_timeout=0 "
    # A server that does not look after its client goes on building when that is gone.
    "-c client_connection_check_interval=0"
)
_STATEMENT: Final = re.compile(r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+)\s+ON (?:hindsight\.)?\w+\s.*", re.DOTALL)

State = Literal["absent", "half-built", "built"]


class LateIndexWrong(HindsightError):
    """A file of sql/late is not one `CREATE INDEX CONCURRENTLY` of the index that it is named like."""


class LateIndexFailed(HindsightError):
    """The server refused to build an index; the message says which and why, and those before it stay."""


@dataclass(frozen=True, slots=True)
class LateReport:
    """What a builder did: indexes it built, and whether somebody else is at it, so that it did nothing."""

    built: tuple[str, ...] = ()
    is_under_way: bool = False


def late_statements() -> Mapping[str, str]:
    """The statement of each late index by its name, in the order in which they are built.  Raises: LateIndexWrong."""
    folder = files("hindsight_aws.store").joinpath("sql", "late")
    found = {}
    for file in sorted(folder.iterdir(), key=lambda each: each.name) if folder.is_dir() else ():
        if not file.name.endswith(".sql"):
            continue
        lines = file.read_text("utf-8").splitlines()
        statement = "\n".join(line for line in lines if not line.startswith("--")).strip().removesuffix(";")
        named = _STATEMENT.fullmatch(statement)
        if named is None or named[1] != file.name.removesuffix(".sql") or ";" in statement:
            raise LateIndexWrong(f"sql/late/{file.name} must be one CREATE INDEX CONCURRENTLY of an index of its name")
        found[named[1]] = statement
    return found


def build_late(admin_url: str) -> LateReport:
    """Builds each late index that is not there; one that a killed run left half-built is dropped and built again.

    Guarantees: tables stay readable and writable meanwhile; idempotent; of several at once one builds.  The server
    finishes the index it is at after its client is gone, and until then nobody else begins.
    Raises: LateIndexFailed, LateIndexWrong, DatabaseUnavailable.
    """
    wanted = late_statements()
    built: list[str] = []
    with _connect(admin_url) as owner:
        if not _one(owner, "SELECT pg_try_advisory_lock(%s)", _ADVISORY_LOCK):
            return LateReport(is_under_way=True)
        for name, statement in wanted.items():
            state = _state(owner, name)
            if state == "built":
                continue
            try:
                if state == "half-built":
                    owner.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
                owner.execute(statement.encode())
            except psycopg.OperationalError as broken:
                raise DatabaseUnavailable(f"index {name}: {' '.join(str(broken).split())}") from broken
            except psycopg.Error as refused:
                raise LateIndexFailed(f"index {name}: {' '.join(str(refused).split())}") from refused
            built.append(name)
    return LateReport(tuple(built))


def unbuilt(admin_url: str) -> tuple[str, ...]:
    """Names of the late indexes that are not there, or half-built."""
    with _connect(admin_url) as owner:
        return tuple(name for name in late_statements() if _state(owner, name) != "built")


def half_built(admin_url: str) -> tuple[str, ...]:
    """Names of all indexes of the schema that a build left half-done: kept up by every write, and read by nobody."""
    with _connect(admin_url) as owner:
        owner.execute("SET ROLE NONE")  # as which the builder signed in: others are not shown what it builds
        rows = owner.execute(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND NOT i.indisvalid "
            "AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid) ORDER BY 1"
        ).fetchall()
    return tuple(str(name) for (name,) in rows)


@contextmanager
def _connect(admin_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    try:
        owner = psycopg.connect(admin_url, autocommit=True, connect_timeout=_CONNECT_S, options=_SETTINGS)
    except psycopg.OperationalError as broken:
        raise DatabaseUnavailable(f"the database cannot be reached: {' '.join(str(broken).split())}") from broken
    with owner:
        yield owner


def _state(owner: psycopg.Connection[tuple[object, ...]], name: str) -> State:
    row = owner.execute(
        "SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relname = %s",
        (name,),
    ).fetchone()
    return "absent" if row is None else "built" if row[0] else "half-built"


def _one(owner: psycopg.Connection[tuple[object, ...]], query: str, argument: int) -> object:
    row = owner.execute(query.encode(), (argument,)).fetchone()
    return cast("tuple[object, ...]", row)[0]
