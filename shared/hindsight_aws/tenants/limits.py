"""What an operator says a tenant may use.  Called by cli; calls ports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hindsight_aws.errors import InvalidRequest, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.limits import Limits
from hindsight_aws.ports.store import Store, Transaction


def set_limits(store: Store, tenant_id: TenantId, wanted: Limits, named: Collection[str]) -> Limits:
    """Puts what is `named` of the limits that are wanted in the place of former ones; all limits as they are then.

    Work that waited goes on with the next sweep, or parks anew.  Raises: InvalidRequest for no name at all; NotFound.
    """
    if not named:
        raise InvalidRequest("name at least one limit, such as --usd-per-day 5")
    with store.transaction(tenant_id) as tx:
        _require_tenant(tx, tenant_id)
        after = replace(tx.limits.find() or Limits(), **{name: getattr(wanted, name) for name in named})
        tx.limits.set(after)
    return after


def clear_limits(store: Store, tenant_id: TenantId) -> bool:
    """Takes all limits away, and says whether there were any; work that waited goes on with the next sweep.

    Raises: NotFound.
    """
    with store.transaction(tenant_id) as tx:
        _require_tenant(tx, tenant_id)
        return tx.limits.clear()


def _require_tenant(tx: Transaction, tenant_id: TenantId) -> None:
    if tx.tenants.standing() is None:
        raise NotFound(f"there is no tenant {tenant_id}")
