"""Making, rotating and ending keys: what a key may do is checked before it exists.  Called by cli; calls ports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.errors import Conflict, InvalidRequest, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import FACT_TYPES, NewKey
from hindsight_aws.model.tags import parse_group
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.tenants import KeyLife, KeySummary
from hindsight_aws.tenants.tokens import new_token, token_hash

EXPIRES_SOON: Final = timedelta(days=7)
LONGEST_OVERLAP: Final = timedelta(days=90)


class KeyState(StrEnum):
    """How a key stands; all but `revoked` and `expired` open the door."""

    ACTIVE = "active"
    EXPIRING = "expiring"
    ROTATED = "rotated"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key; `token` is shown now or never."""

    key_id: UUID
    token: str
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RotatedKey:
    """A key that takes the place of another, and until when the other works beside it."""

    made: MadeKey
    predecessor_until: datetime


def create_key(store: Store, tenant_id: TenantId, key: NewKey, expires_at: datetime | None, now: datetime) -> MadeKey:
    """Makes a key for the tenant.

    Raises: NotFound for an unknown tenant; InvalidRequest for limits that let nothing through or cannot be read.
    """
    _check(key, expires_at, now)
    made = MadeKey(uuid4(), new_token(), expires_at)
    with store.transaction(tenant_id) as tx:
        if tx.tenants.standing() is None:
            raise NotFound(f"there is no such tenant: {tenant_id}")
        tx.tenants.add_key(made.key_id, token_hash(made.token), key, expires_at)
    return made


def rotate_key(
    store: Store,
    tenant_id: TenantId,
    key_id: UUID,
    overlap: timedelta,
    now: datetime,
    expires_at: datetime | None = None,
) -> RotatedKey:
    """Makes a key that may do what this one may, for the same holder, and ends this one after the overlap.

    Without an expiry of its own the new key lives as long as the old one was made to live.

    Guarantees: of two rotations of one key, one is refused; a key never works longer than it did before.
    Raises: NotFound for a key the tenant has not; Conflict for one that is over or was rotated; InvalidRequest for an
    overlap or an expiry that cannot be.
    """
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise InvalidRequest(f"the overlap is at most {LONGEST_OVERLAP.days} days")
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest("the expiry must lie in the future")
    with store.transaction(tenant_id) as tx:
        old = tx.tenants.lock_key(key_id)
        if old is None:
            raise NotFound(f"Tenant {tenant_id} has no key {key_id}")
        _require_rotatable(old, key_id, now)
        lifetime = None if old.expires_at is None else old.expires_at - old.created_at
        made = MadeKey(uuid4(), new_token(), expires_at or (None if lifetime is None else now + lifetime))
        tx.tenants.add_successor(key_id, made.key_id, token_hash(made.token), made.expires_at)
        tx.tenants.end_key_by(key_id, now + overlap)
    return RotatedKey(made, min(now + overlap, old.expires_at or now + overlap))


def revoke_key(store: Store, tenant_id: TenantId, key_id: UUID) -> None:
    """Ends a key at once.  Raises NotFound when the tenant has no such key that works."""
    with store.transaction(tenant_id) as tx:
        if not tx.tenants.revoke_key(key_id):
            raise NotFound(f"Tenant {tenant_id} has no working key {key_id}")


def state_of(key: KeySummary, now: datetime) -> KeyState:
    """How the key stands at that moment: what ends it says more than that another took its place."""
    if key.revoked_at is not None:
        return KeyState.REVOKED
    if key.expires_at is not None and key.expires_at <= now:
        return KeyState.EXPIRED
    if key.successor_id is not None:
        return KeyState.ROTATED
    if key.expires_at is not None and key.expires_at <= now + EXPIRES_SOON:
        return KeyState.EXPIRING
    return KeyState.ACTIVE


def _require_rotatable(old: KeyLife, key_id: UUID, now: datetime) -> None:
    if old.revoked_at is not None:
        raise Conflict(f"key {key_id} was revoked; make a new one")
    if old.expires_at is not None and old.expires_at <= now:
        raise Conflict(f"key {key_id} has expired; make a new one")
    if old.successor_id is not None:
        raise Conflict(f"key {key_id} was rotated already; its successor is {old.successor_id}")


def _check(key: NewKey, expires_at: datetime | None, now: datetime) -> None:
    if not key.subject.strip() or not key.subject.isprintable():
        raise InvalidRequest("a key needs a name, of printable characters")
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
