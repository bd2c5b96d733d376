"""Tenants and their keys, as whoever administers the database sees them; no function of the API can write them.

All a function may write is that a key was used, and all it may read is how its tenant stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey


class Standing(StrEnum):
    """How a tenant is treated; a suspended one's calls are refused and its work is not handed out."""

    SERVED = "served"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class TenantSummary:
    """A tenant, and since when it is suspended, if it is."""

    tenant_id: TenantId
    name: str
    created_at: datetime
    suspended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TenantDetail:
    """A tenant with the number of its banks and of its keys that work."""

    summary: TenantSummary
    banks: int
    keys: int


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What an API key's hash resolves to; expired and revoked keys are told apart from unknown ones.

    `first_key_id` is the first key of its rotations, or itself.  `is_use_to_note`: nobody noted a use of it lately, and
    this process may.
    """

    tenant_id: TenantId
    key_id: UUID
    key_hash: bytes
    first_key_id: UUID
    subject: str
    permissions: frozenset[str]
    bank_patterns: tuple[str, ...]
    forced_tags: object | None
    fact_types: frozenset[str] | None
    exact_scopes: tuple[tuple[str, ...], ...] | None
    is_expired: bool = False
    is_revoked: bool = False
    is_suspended: bool = False
    is_use_to_note: bool = False


@dataclass(frozen=True, slots=True)
class KeySummary:
    """A key without its secret, which nobody but its holder has.

    `last_used_at` is right to the hour; for keys that only recall it is that of the key or of one that it was rotated
    with.
    """

    key_id: UUID
    subject: str
    permissions: tuple[str, ...]
    bank_patterns: tuple[str, ...]
    forced_tags: object | None
    fact_types: tuple[str, ...] | None
    exact_scopes: object | None
    expires_at: datetime | None
    revoked_at: datetime | None
    created_at: datetime
    predecessor_id: UUID | None = None
    successor_id: UUID | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyLife:
    """When a key was made and when it ends, and which one took its place."""

    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    successor_id: UUID | None


class Tenants(Protocol):
    """The tenant of the transaction and its keys."""

    def create_if_missing(self, name: str) -> bool:
        """Makes the transaction's tenant; False if it was there."""
        ...

    def standing(self) -> Standing | None:
        """How the transaction's tenant stands; None if it was never made."""
        ...

    def detail(self) -> TenantDetail | None:
        """The transaction's tenant, if it was made."""
        ...

    def rename(self, name: str) -> bool:
        """Gives the tenant another name; False if it was never made."""
        ...

    def suspend(self) -> bool:
        """Ends the tenant's service until it is resumed; False if it was never made."""
        ...

    def resume(self) -> bool:
        """Serves the tenant again; False if it was never made."""
        ...

    def add_key(self, key_id: UUID, key_hash: bytes, key: NewKey, expires_at: datetime | None) -> None:
        """Stores a key under its hash."""
        ...

    def lock_key(self, key_id: UUID) -> KeyLife | None:
        """A key, which nobody else changes until the transaction ends; None if the tenant has no such key."""
        ...

    def add_successor(self, predecessor_id: UUID, key_id: UUID, key_hash: bytes, expires_at: datetime | None) -> None:
        """Stores a key that may do what its predecessor may, for the same holder."""
        ...

    def end_key_by(self, key_id: UUID, until: datetime) -> None:
        """Lets a key work until then at the longest."""
        ...

    def list_keys(self) -> list[KeySummary]:
        """The tenant's keys, newest first."""
        ...

    def revoke_key(self, key_id: UUID) -> bool:
        """Ends a key at once; False if the tenant has no such key that works."""
        ...

    def note_use(self, key_id: UUID) -> None:
        """Writes down that a key is in use now; one that was noted within the hour is left as it is."""
        ...
