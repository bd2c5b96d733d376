"""`tenant`: the customers of this deployment.  Calls tenants/ with the owner's store."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from hindsight_aws.cli.command import Answer, add, confirmed, group
from hindsight_aws.cli.database import owner_inspection, owner_store

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.ports.tenants import TenantSummary


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "tenant", "make, name, suspend and list tenants")
    made = add(actions, "create", create_tenant, "make a tenant and print its id")
    made.add_argument("name")
    add(actions, "list", list_tenants, "list all tenants")
    shown = add(actions, "show", show_tenant, "show a tenant with its banks and keys counted")
    renamed = add(actions, "rename", rename_tenant, "give a tenant another name")
    suspended = add(actions, "suspend", suspend_tenant, "refuse a tenant's calls and let its work lie", needs_yes=True)
    resumed = add(actions, "resume", resume_tenant, "serve a suspended tenant again")
    for action in (shown, renamed, suspended, resumed):
        action.add_argument("tenant", type=UUID)
    renamed.add_argument("name")


def create_tenant(chosen: Namespace) -> Answer:
    """Makes a tenant and prints its id."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import create_tenant as create

    tenant_id = TenantId(uuid4())
    with owner_store(chosen) as store:
        create(store, tenant_id, chosen.name)
    return Answer([str(tenant_id)], {"tenant_id": tenant_id, "name": chosen.name})


def list_tenants(chosen: Namespace) -> Answer:
    """Lists every tenant."""
    with owner_inspection(chosen) as inspection:
        tenants = inspection.tenants()
    return Answer([_line(tenant) for tenant in tenants], [_row(tenant) for tenant in tenants])


def show_tenant(chosen: Namespace) -> Answer:
    """Shows one tenant."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import show_tenant as show

    with owner_store(chosen) as store:
        found = show(store, TenantId(chosen.tenant))
    return Answer(
        [_line(found.summary), f"banks  {found.banks}", f"keys   {found.keys} that work"],
        {**_row(found.summary), "banks": found.banks, "working_keys": found.keys},
    )


def rename_tenant(chosen: Namespace) -> Answer:
    """Gives a tenant another name."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import rename_tenant as rename

    with owner_store(chosen) as store:
        rename(store, TenantId(chosen.tenant), chosen.name)
    return Answer([f"renamed {chosen.tenant}"], {"tenant_id": chosen.tenant, "name": chosen.name})


def suspend_tenant(chosen: Namespace) -> Answer:
    """Refuses a tenant's calls from the next one on."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import suspend_tenant as suspend

    confirmed(chosen, f"refuse every call of tenant {chosen.tenant} from now on")
    with owner_store(chosen) as store:
        suspend(store, TenantId(chosen.tenant))
    told = f"suspended {chosen.tenant}: its calls are refused and its work waits; only deletions asked for go on"
    return Answer([told], {"tenant_id": chosen.tenant, "state": "suspended"})


def resume_tenant(chosen: Namespace) -> Answer:
    """Serves a tenant again."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.manage import resume_tenant as resume

    with owner_store(chosen) as store:
        resume(store, TenantId(chosen.tenant))
    return Answer(
        [f"resumed {chosen.tenant}: the next sweep finds its work"], {"tenant_id": chosen.tenant, "state": "served"}
    )


def _state(tenant: TenantSummary) -> str:
    return "served" if tenant.suspended_at is None else "suspended"


def _line(tenant: TenantSummary) -> str:
    return f"{tenant.tenant_id}  {tenant.created_at:%Y-%m-%d}  {_state(tenant):9}  {tenant.name}"


def _row(tenant: TenantSummary) -> dict[str, object]:
    return {
        "tenant_id": tenant.tenant_id,
        "name": tenant.name,
        "state": _state(tenant),
        "created_at": tenant.created_at,
        "suspended_at": tenant.suspended_at,
    }
