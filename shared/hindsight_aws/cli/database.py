"""The database as an administrator reaches it from the command line.  Called by commands; opens store/."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from hindsight_aws.store.inspection import Inspection
    from hindsight_aws.store.postgres import PostgresStore

_CONNECT_FOR_S = 20.0
_OWNER_SESSION = "-c role=hindsight_owner -c search_path=hindsight,public"


def database_url(chosen: Namespace) -> str:
    """Where the database is, as the command says or else the environment.

    Raises: InvalidRequest where neither names it, or not as Postgres reads it; the sentence repeats nothing of it.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    from hindsight_aws.settings import load_settings

    url = str(chosen.database_url or load_settings().hindsight_database_url)
    if not url:
        raise InvalidRequest("name the database: --database-url, or HINDSIGHT_DATABASE_URL")
    try:
        conninfo_to_dict(url)
    except ProgrammingError:  # which quotes what it cannot read, a password too
        raise InvalidRequest("the database is named by what is no connection string of Postgres") from None
    return url


@contextmanager
def owner_store(chosen: Namespace) -> Iterator[PostgresStore]:
    """The store with the rights of the schema's owner, whom row-level security binds too: one tenant at a time."""
    from hindsight_aws.store.postgres import PostgresStore

    store = PostgresStore(lambda: _owner_url(chosen), _CONNECT_FOR_S)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def owner_inspection(chosen: Namespace) -> Iterator[Inspection]:
    """Questions to the database that belong to no tenant, with the rights of the schema's owner."""
    from hindsight_aws.store.inspection import Inspection

    inspection = Inspection(lambda: _owner_url(chosen), _CONNECT_FOR_S)
    try:
        yield inspection
    finally:
        inspection.close()


def _owner_url(chosen: Namespace) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo(database_url(chosen), options=_OWNER_SESSION)
