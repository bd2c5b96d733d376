"""Making and revoking keys: what a key may do is checked once, before it exists.  Called by cli; calls ports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from hindsight_aws.errors import InvalidRequest, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import FACT_TYPES, NewKey
from hindsight_aws.model.tags import parse_group
from hindsight_aws.ports.store import Store
from hindsight_aws.tenants.tokens import new_token, token_hash


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key; `token` is shown now or never."""

    key_id: UUID
    token: str


def create_key(store: Store, tenant_id: TenantId, key: NewKey, expires_at: datetime | None, now: datetime) -> MadeKey:
    """Makes a key for the tenant.

    Raises: NotFound for an unknown tenant; InvalidRequest for limits that let nothing through or cannot be read.
    """
    _check(key, expires_at, now)
    made = MadeKey(uuid4(), new_token())
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.is_there():
            raise NotFound(f"there is no such tenant: {tenant_id}")
        tx.tenants.add_key(made.key_id, token_hash(made.token), key, expires_at)
    return made


def revoke_key(store: Store, tenant_id: TenantId, key_id: UUID) -> None:
    """Ends a key at once.  Raises NotFound when the tenant has no such key that works."""
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.revoke_key(key_id):
            raise NotFound(f"Tenant {tenant_id} has no working key {key_id}")


def _check(key: NewKey, expires_at: datetime | None, now: datetime) -> None:
    if not key.subject.strip():
        raise InvalidRequest("a key needs a name")
    if not key.permissions:
        raise InvalidRequest("a key needs a permission: read, write or admin")
    if not key.bank_patterns or not all(key.bank_patterns):
        raise InvalidRequest("a key needs a bank pattern; '*' is every bank")
    if key.forced_tags is not None:
        parse_group(key.forced_tags, "forced tags", stored=True)
    if key.fact_types is not None and (not key.fact_types or not key.fact_types <= FACT_TYPES):
        raise InvalidRequest(f"fact types are {', '.join(sorted(FACT_TYPES))}")
    if key.exact_scopes is not None and not key.exact_scopes:
        raise InvalidRequest("a key limited to exact scopes needs a scope")
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest("the expiry must lie in the future")
