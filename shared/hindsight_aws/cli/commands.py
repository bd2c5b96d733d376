"""The commands, each a few lines over a use case.  Called by main; prints for people, and tokens once."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from hindsight_aws.model.principal import NewKey
    from hindsight_aws.ports.tenants import KeySummary
    from hindsight_aws.store.postgres import PostgresStore

_CONNECT_FOR_S = 20.0
_OWNER_SESSION = "-c role=hindsight_owner -c search_path=hindsight,public"


def migrate_schema(chosen: Namespace) -> int:
    """Brings the database to the head of the migrations."""
    from hindsight_aws.store.migrator import migrate

    report = migrate(_database_url(chosen))
    for name in report.applied:
        print(f"applied {name}")
    print(f"The schema is at its head: {report.total} migrations, {len(report.applied)} applied now.")
    return 0


def create_tenant(chosen: Namespace) -> int:
    """Makes a tenant."""
    from hindsight_aws.model.ids import TenantId

    if not chosen.name.strip():
        raise InvalidRequest("a tenant needs a name")
    tenant_id = TenantId(uuid4())
    with _owner_store(chosen) as store, store.transaction(tenant_id) as tx:
        tx.tenants.create_if_missing(chosen.name)
    print(tenant_id)
    return 0


def list_tenants(chosen: Namespace) -> int:
    """Lists every tenant."""
    from hindsight_aws.store.inspection import Inspection

    inspection = Inspection(lambda: _owner_url(chosen), _CONNECT_FOR_S)
    try:
        for tenant in inspection.tenants():
            print(f"{tenant.tenant_id}  {tenant.created_at:%Y-%m-%d}  {tenant.name}")
    finally:
        inspection.close()
    return 0


def create_key(chosen: Namespace) -> int:
    """Makes a key and prints its token, which nobody can show again."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.keys import create_key as create

    with _owner_store(chosen) as store:
        made = create(store, TenantId(chosen.tenant), _new_key(chosen), chosen.expires, datetime.now(UTC))
    print(f"key    {made.key_id}")
    print(f"token  {made.token}")
    print("The token is shown this once; the database has only its hash.")
    return 0


def list_keys(chosen: Namespace) -> int:
    """Lists a tenant's keys."""
    from hindsight_aws.model.ids import TenantId

    with _owner_store(chosen) as store, store.transaction(TenantId(chosen.tenant)) as tx:
        for key in tx.tenants.list_keys():
            print(_line(key))
    return 0


def revoke_key(chosen: Namespace) -> int:
    """Ends a key."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.keys import revoke_key as revoke

    with _owner_store(chosen) as store:
        revoke(store, TenantId(chosen.tenant), chosen.key)
    print(f"revoked {chosen.key}")
    return 0


def make_dev_tenant(chosen: Namespace) -> int:
    """Makes the tenant of a local stack if it is missing, and a key that may do everything in it."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.model.principal import NewKey, Permission
    from hindsight_aws.tenants.keys import create_key as create

    tenant_id = TenantId(chosen.tenant)
    with _owner_store(chosen) as store:
        with store.transaction(tenant_id) as tx:
            is_new = tx.tenants.create_if_missing("dev")
        print(f"tenant {tenant_id}{'' if is_new else ' (was there)'}")
        made = create(store, tenant_id, NewKey("dev", frozenset(Permission)), None, datetime.now(UTC))
    print(f"token  {made.token}")
    return 0


def run_doctor(chosen: Namespace) -> int:
    """Checks what a deployment stands on."""
    from hindsight_aws.cli.doctor import check_all

    findings = check_all(chosen.admin_database_url)
    for finding in findings:
        print(f"{'ok   ' if finding.is_ok else 'WRONG'}  {finding.sentence}")
    return 0 if all(finding.is_ok for finding in findings) else 1


def print_model_contract(_chosen: Namespace) -> int:
    """Prints every model task with its tool schema as JSON."""
    from hindsight_aws.prompts.contract import as_json

    print(as_json())
    return 0


def print_settings(_chosen: Namespace) -> int:
    """Prints docs/settings.md as the code has it."""
    from hindsight_aws.cli.settings_page import page

    print(page(), end="")
    return 0


def _new_key(chosen: Namespace) -> NewKey:
    from hindsight_aws.model.principal import NewKey, Permission

    try:
        permissions = frozenset(Permission(word) for word in chosen.permissions)
        forced = None if chosen.forced_tags is None else json.loads(chosen.forced_tags)
    except ValueError as wrong:
        raise InvalidRequest(f"permissions are read, write, admin; forced tags are JSON: {wrong}") from None
    scopes = chosen.exact_scope
    return NewKey(
        subject=chosen.name,
        permissions=permissions,
        bank_patterns=chosen.banks,
        forced_tags=forced,
        fact_types=None if chosen.fact_types is None else frozenset(chosen.fact_types),
        exact_scopes=None if scopes is None else tuple(_tags_of(scope) for scope in scopes),
    )


def _tags_of(scope: str) -> tuple[str, ...]:
    return tuple(sorted({tag.strip() for tag in scope.split(",") if tag.strip()}))


def _line(key: KeySummary) -> str:
    state = "revoked" if key.revoked_at else f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "works"
    limits = [f"banks {','.join(key.bank_patterns)}"]
    if key.forced_tags is not None:
        limits.append(f"tags {json.dumps(key.forced_tags)}")
    if key.fact_types is not None:
        limits.append(f"types {','.join(key.fact_types)}")
    if key.exact_scopes is not None:
        limits.append(f"scopes {json.dumps(key.exact_scopes)}")
    return f"{key.key_id}  {state:16}  {','.join(key.permissions):16}  {key.subject}  ({'; '.join(limits)})"


@contextmanager
def _owner_store(chosen: Namespace) -> Iterator[PostgresStore]:
    from hindsight_aws.store.postgres import PostgresStore

    store = PostgresStore(lambda: _owner_url(chosen), _CONNECT_FOR_S)
    try:
        yield store
    finally:
        store.close()


def _owner_url(chosen: Namespace) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo(_database_url(chosen), options=_OWNER_SESSION)


def _database_url(chosen: Namespace) -> str:
    from hindsight_aws.settings import load_settings

    url = str(chosen.database_url or load_settings().hindsight_database_url)
    if not url:
        raise InvalidRequest("name the database: --database-url, or HINDSIGHT_DATABASE_URL")
    return url
