"""`migrate` and `dev-tenant`: what a database needs before a function can use it.  Calls store/ and tenants/."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from hindsight_aws.cli.command import Answer, add
from hindsight_aws.cli.database import database_url, owner_store

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands


def register(commands: Commands) -> None:
    """Adds the two commands."""
    schema = add(commands, "migrate", migrate_schema, "bring the database to the newest schema")
    schema.add_argument(
        "--late", action="store_true", help="afterwards build the indexes that take longer than a deployment may"
    )
    dev = add(commands, "dev-tenant", make_dev_tenant, "make the tenant of a local stack, and a key for it")
    dev.add_argument("--tenant", type=UUID, required=True, metavar="UUID")


def migrate_schema(chosen: Namespace) -> Answer:
    """Brings the database to the head of the migrations."""
    from hindsight_aws.store.migrator import migrate

    report = migrate(database_url(chosen))
    lines = [f"applied {name}" for name in report.applied]
    lines.append(f"The schema is at its head: {report.total} migrations, {len(report.applied)} applied now.")
    document: dict[str, object] = {"applied": list(report.applied), "migrations": report.total}
    if chosen.late:
        document |= _build_late(database_url(chosen), lines)
    return Answer(lines, document)


def _build_late(url: str, lines: list[str]) -> dict[str, object]:
    """Builds them and adds what is to be said of it."""
    from hindsight_aws.store.late_indexes import build_late

    late = build_late(url)
    lines.extend(f"built {name}" for name in late.built)
    lines.append(
        "Somebody is building late indexes: run this again later."
        if late.is_under_way
        else f"Late indexes are built: {len(late.built)} now."
    )
    return {"built": list(late.built), "is_under_way": late.is_under_way}


def make_dev_tenant(chosen: Namespace) -> Answer:
    """Makes the tenant of a local stack if it is missing, and a key that may do everything in it."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.model.principal import NewKey, Permission
    from hindsight_aws.tenants.keys import create_key

    tenant_id = TenantId(chosen.tenant)
    with owner_store(chosen) as store:
        with store.transaction(tenant_id) as tx:
            is_new = tx.tenants.create_if_missing("dev")
        made = create_key(store, tenant_id, NewKey("dev", frozenset(Permission)), None, datetime.now(UTC))
    return Answer(
        [f"tenant {tenant_id}{'' if is_new else ' (was there)'}", f"token  {made.token}"],
        {"tenant_id": tenant_id, "created": is_new, "key_id": made.key_id, "token": made.token},
    )
