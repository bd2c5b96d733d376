"""Whether the database is the one that the functions need: schema, extension, roles, grants, clock, tenants.

Reads the catalogue with whatever connection it is given, and tenants and keys with an administrator's alone.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from hindsight_aws.cli.preflight.finding import Finding, not_known, ok, warning, wrong
from hindsight_aws.errors import DatabaseUnavailable, HindsightError, NoDatabaseToken
from hindsight_aws.settings import Settings
from hindsight_aws.store.inspection import Inspection, RoleFacts

if TYPE_CHECKING:
    from hindsight_aws.ports.tenants import KeySummary

_LEAST_VECTOR: Final = (0, 8)
_SKEW: Final = timedelta(seconds=30)
_OLD: Final = timedelta(days=365)
_UNUSED: Final = timedelta(days=90)
_MOST_TENANTS: Final = 500
_MOST_NAMED: Final = 5


def check_database(settings: Settings, admin_url: str) -> Iterator[Finding]:
    """The database as the process's own role finds it, and as the administrator does where `admin_url` names one."""
    from hindsight_aws.aws.database_login import login

    is_administrators = bool(settings.hindsight_database_secret_arn)
    if settings.hindsight_database_url and not is_administrators:
        conninfo, is_function = login(settings), True
    elif admin_url:
        conninfo, is_function = (lambda: admin_url), False
    else:
        yield not_known("HINDSIGHT_DATABASE_URL is not set, so the database was not looked at.")
        return
    inspection = Inspection(conninfo, settings.hindsight_database_connect_seconds)
    try:
        yield from _inside(inspection, is_function=is_function)
        if admin_url:
            yield from _head(admin_url)
            yield from _indexes(admin_url)
            yield from _tenants(admin_url)
    except DatabaseUnavailable as broken:
        yield wrong(f"The database is out of reach: {broken}. See docs/runbooks/database-unavailable.md.")
    finally:
        inspection.close()


def _inside(inspection: Inspection, *, is_function: bool) -> Iterator[Finding]:
    try:
        role = inspection.role()
    except NoDatabaseToken as why:
        yield not_known(f"How the database looks to HINDSIGHT_DATABASE_URL: {why}.")
        return
    yield ok(f"The database answers, as role {role.name}.")
    yield from _clock(inspection.now())
    yield _vector(inspection.vector_version(), inspection.vector_offered())
    if is_function:
        yield _bound(role)
    tables = inspection.table_count()
    if tables == 0:
        yield wrong("The schema is empty: run `hindsight-aws migrate`.")
        return
    of_functions = inspection.function_roles()
    yield from (_bound(each) for each in of_functions if each.name != role.name or not is_function)
    if len(of_functions) < 2:
        yield wrong("A role of the functions is missing: run `hindsight-aws migrate`.")
    unforced = inspection.unforced_tables()
    if unforced:
        yield wrong(
            f"Row-level security is not forced on: {', '.join(unforced)}. Put it back: tenants are not kept apart."
        )
    else:
        yield ok(f"Row-level security is forced on every one of {tables} tables that functions may touch.")
    written = inspection.tables_that_readers_write()
    if written:
        yield wrong(f"hindsight_read may write {', '.join(written)}: revoke what migrations did not grant.")


def _bound(role: RoleFacts) -> Finding:
    faults = [
        fault
        for fault, is_there in (
            ("is a superuser", role.is_superuser),
            ("bypasses row-level security", role.bypasses_policies),
            ("owns tables of the schema", role.owns_tables),
        )
        if is_there
    ]
    if faults:
        return wrong(f"Role {role.name} {' and '.join(faults)}: use hindsight_write or hindsight_read.")
    return ok(f"Role {role.name} is bound by row-level security.")


def _clock(database: datetime) -> Iterator[Finding]:
    apart = abs(datetime.now(UTC) - database)
    if apart > _SKEW:
        yield warning(
            f"The clock here and the database's are {apart.total_seconds():.0f} s apart: set the one that is wrong; "
            "tokens and signatures are good for minutes."
        )


def _vector(version: str | None, offered: str | None) -> Finding:
    if version is None:
        return wrong("The extension `vector` is missing: run `hindsight-aws migrate`, as somebody who may create it.")
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if found < _LEAST_VECTOR:
        return wrong(f"The extension `vector` is {version}; 0.8 or newer is needed: ALTER EXTENSION vector UPDATE.")
    if offered not in {None, version}:
        return warning(
            f"The extension `vector` is {version} and the server brings {offered}: run `hindsight-aws migrate`, or as "
            "the extension's owner ALTER EXTENSION vector UPDATE."
        )
    return ok(f"The extension `vector` is {version}; 0.8 or newer is needed.")


def _head(admin_url: str) -> Iterator[Finding]:
    from psycopg import Error

    from hindsight_aws.store.migrator import pending

    try:
        waiting = pending(admin_url)
    except Error as refused:
        yield not_known(
            f"Whether every migration was applied: the database refused to tell ({type(refused).__name__})."
        )
        return
    if waiting:
        yield wrong(f"Migrations not applied yet: {', '.join(waiting)}. Run `hindsight-aws migrate`.")
    else:
        yield ok("Every migration was applied.")


def _indexes(admin_url: str) -> Iterator[Finding]:
    from psycopg import Error

    from hindsight_aws.store.late_indexes import half_built, unbuilt

    try:
        late, half = unbuilt(admin_url), half_built(admin_url)
    except Error as refused:
        yield not_known(f"Whether every index was built: the database refused to tell ({type(refused).__name__}).")
        return
    if late:
        yield warning(f"Indexes not built yet: {', '.join(late)}. Run `hindsight-aws migrate --late`.")
    for name in half:
        if name not in late:
            yield warning(f"Index {name} was left half-built: DROP INDEX CONCURRENTLY hindsight.{name}, and build it.")
    if not late and not half:
        yield ok("Every index was built.")


def _tenants(admin_url: str) -> Iterator[Finding]:
    from hindsight_aws.cli.database import owner_inspection, owner_store

    chosen = Namespace(database_url=admin_url)
    now = datetime.now(UTC)
    unlimited, old, unused = [], [], []
    try:
        with owner_inspection(chosen) as inspection:
            served = [tenant for tenant in inspection.tenants() if tenant.suspended_at is None]
        with owner_store(chosen) as store:
            for tenant in served[:_MOST_TENANTS]:
                with store.transaction(tenant.tenant_id) as tx:
                    unlimited += [] if tx.limits.find() is not None else [str(tenant.tenant_id)]
                    keys = [key for key in tx.tenants.list_keys() if _works(key, now)]
                old += [str(key.key_id) for key in keys if key.created_at < now - _OLD]
                unused += [str(key.key_id) for key in keys if (key.last_used_at or key.created_at) < now - _UNUSED]
    except DatabaseUnavailable:
        raise
    except HindsightError as refused:
        yield not_known(f"Tenants and keys could not be read: {refused}.")
        return
    counted = f"{len(served)} tenants are served"
    if len(served) > _MOST_TENANTS:
        counted += f"; limits and keys of the oldest {_MOST_TENANTS} were looked at"
    yield ok(f"{counted}.")
    if unlimited:
        yield warning(f"{_named(unlimited)} without limits: a loop in a client is paid in full; see `limits set`.")
    if old:
        yield warning(f"{_named(old, 'key')} older than a year: `key rotate` gives each a successor.")
    if unused:
        yield warning(f"{_named(unused, 'key')} not used for 90 days: `key revoke` those that nobody misses.")


def _works(key: KeySummary, now: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now)


def _named(ids: list[str], what: str = "tenant") -> str:
    shown = ", ".join(ids[:_MOST_NAMED]) + (", …" if len(ids) > _MOST_NAMED else "")
    return f"{len(ids)} {what}{'s are' if len(ids) > 1 else ' is'} ({shown})"
