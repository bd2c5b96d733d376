"""Brings a database to the head of sql/migrations, forward only.

Called by the `migrate` function and the CLI with an administrator's connection string.  Holds an advisory lock
throughout, so that a lock row which a killed migrator left in the library's own table can be broken without asking who
holds it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import as_file, files
from urllib.parse import urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict
from yoyo import get_backend, read_migrations
from yoyo.backends.base import DatabaseBackend

from hindsight_aws.errors import DatabaseUnavailable, HindsightError
from hindsight_aws.faults import reached
from hindsight_aws.store.late_indexes import build_late, late_statements

_ADVISORY_LOCK = 0x4853_4D49  # "HSMI": one migrator at a time in a database
_LEAST_VECTOR = (0, 8)
_SETTINGS = "-c role=hindsight_owner -c search_path=hindsight,public"
_PAUSE_S = 1.0
_CONNECT_S = 10
_MOST_WORDS = 600
"""Characters of the server's own complaint that are passed on: what CloudFormation shows has room for 4 KB."""


class MigrationRefused(HindsightError):
    """The database cannot take the schema; the message says what is missing."""


class MigrationFailed(HindsightError):
    """A migration left no trace, those before it stay; the message says which it was, and what the server said."""


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migrator did: names of the migrations applied now, and how many there are in all."""

    applied: tuple[str, ...]
    total: int


def migrate(admin_url: str, patience_s: float = 0.0) -> MigrationReport:
    """Creates roles, schema and extensions where missing, renews `vector`, then applies what is not applied yet.

    `patience_s`: how long to try to reach the database, which may be resuming.

    Guarantees: idempotent; several at once take turns; one killed at any point can be run again, each migration being
    one transaction.
    Raises: MigrationRefused when pgvector is older than 0.8; MigrationFailed; DatabaseUnavailable.
    """
    with _connect(admin_url, patience_s) as admin:
        admin.execute("SELECT pg_advisory_lock(%s)", (_ADVISORY_LOCK,))
        _run_script(admin, "roles")
        _renew_vector(admin)
        _require_vector(admin)
        _run_script(admin, "lend_router")
        try:
            report = _apply(admin_url)
        finally:
            _run_script(admin, "return_router")
    if len(report.applied) == report.total and late_statements():
        build_late(admin_url)  # of empty tables: it takes no time
    return report


def pending(admin_url: str) -> tuple[str, ...]:
    """Names of the migrations that this database has not seen."""
    with _backend(admin_url) as (backend, folder):
        return tuple(m.id for m in backend.to_apply(read_migrations(folder)))


def _connect(admin_url: str, patience_s: float) -> psycopg.Connection[tuple[object, ...]]:
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            return psycopg.connect(admin_url, autocommit=True, connect_timeout=_CONNECT_S)
        except psycopg.OperationalError as broken:
            if time.monotonic() >= give_up_at:
                raise DatabaseUnavailable(f"the database cannot be reached: {_words(broken)}") from broken
            time.sleep(_PAUSE_S)


def _words(complaint: psycopg.Error) -> str:
    """What the server or its client library said, in one line; neither repeats a password."""
    return " ".join(str(complaint).split())[:_MOST_WORDS]


def _apply(admin_url: str) -> MigrationReport:
    with _backend(admin_url) as (backend, folder):
        known = read_migrations(folder)
        backend.break_lock()
        applied: list[str] = []
        with backend.lock():
            for migration in backend.to_apply(known):
                try:
                    backend.apply_one(migration)
                except psycopg.Error as refused:
                    raise MigrationFailed(f"migration {migration.id}: {_words(refused)}") from refused
                applied.append(migration.id)
                reached("migrator.after_migration")
        return MigrationReport(tuple(applied), len(known))


@contextmanager
def _backend(admin_url: str) -> Iterator[tuple[DatabaseBackend, str]]:
    with as_file(files("hindsight_aws.store").joinpath("sql", "migrations")) as folder:
        backend = get_backend(_library_url(admin_url))
        try:
            yield backend, str(folder)
        finally:
            backend.connection.close()


def _library_url(admin_url: str) -> str:
    """The connection string in the migration library's form, acting as the owner of the schema."""
    parts = {key: str(value) for key, value in conninfo_to_dict(admin_url).items() if value is not None}
    database = parts.pop("dbname", "postgres")
    return f"postgresql+psycopg:///{database}?{urlencode(parts | {'options': _SETTINGS})}"


def _run_script(admin: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    script = files("hindsight_aws.store").joinpath("sql", "bootstrap", f"{name}.sql").read_text("utf-8")
    admin.execute(script.encode())


def _renew_vector(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    """Brings the extension to what the server offers, which an upgrade of the engine leaves to its owner.

    Whoever may not (the extension is another administrator's) is told by `_require_vector`, where it matters.
    """
    with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported):
        admin.execute(
            "DO $$ BEGIN IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector' "
            "AND installed_version <> default_version) THEN ALTER EXTENSION vector UPDATE; END IF; END $$"
        )


def _require_vector(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    row = admin.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = str(row[0]) if row else "none"
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < _LEAST_VECTOR:
        raise MigrationRefused(
            f"pgvector 0.8 or newer is required, this database has {version}; where the server offers a newer one, its "
            "owner brings it by ALTER EXTENSION vector UPDATE"
        )
