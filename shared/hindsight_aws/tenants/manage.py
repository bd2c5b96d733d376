"""What an operator does to a tenant: make, name, suspend, resume.  Called by cli; calls ports."""

from __future__ import annotations

from typing import Final

from hindsight_aws.errors import InvalidRequest, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.tenants import TenantDetail

LONGEST_NAME: Final = 200


def create_tenant(store: Store, tenant_id: TenantId, name: str) -> bool:
    """Makes the tenant; False if it was there, which changes nothing.  Raises InvalidRequest for no name."""
    _check(name)
    with store.transaction(tenant_id) as tx:
        return tx.tenants.create_if_missing(name)


def show_tenant(store: Store, tenant_id: TenantId) -> TenantDetail:
    """The tenant.  Raises NotFound."""
    with store.transaction(tenant_id) as tx:
        found = tx.tenants.detail()
    if found is None:
        raise _unknown(tenant_id)
    return found


def rename_tenant(store: Store, tenant_id: TenantId, name: str) -> None:
    """Gives the tenant another name; nothing else knows it by its name.  Raises NotFound or InvalidRequest."""
    _check(name)
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.rename(name):
            raise _unknown(tenant_id)


def suspend_tenant(store: Store, tenant_id: TenantId) -> None:
    """Refuses the tenant's calls from its next one on, and lets its work lie; nothing of it is lost.

    Guarantees: idempotent.  Raises: NotFound.
    """
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.suspend():
            raise _unknown(tenant_id)


def resume_tenant(store: Store, tenant_id: TenantId) -> None:
    """Serves the tenant again; the next sweep finds its work.

    Guarantees: idempotent.  Raises: NotFound.
    """
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.resume():
            raise _unknown(tenant_id)


def _check(name: str) -> None:
    if not name.strip():
        raise InvalidRequest("a tenant needs a name")
    if not name.isprintable() or len(name) > LONGEST_NAME:
        raise InvalidRequest(f"a tenant's name has printable characters, {LONGEST_NAME} at most")


def _unknown(tenant_id: TenantId) -> NotFound:
    return NotFound(f"there is no such tenant: {tenant_id}")
