"""Tenants and their keys, as whoever administers the database sees them; no function of the API can write them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey


@dataclass(frozen=True, slots=True)
class TenantSummary:
    """A tenant and how many banks it has."""

    tenant_id: TenantId
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KeySummary:
    """A key without its secret, which nobody but its holder has."""

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


class Tenants(Protocol):
    """The tenant of the transaction and its keys."""

    def create_if_missing(self, name: str) -> bool:
        """Makes the transaction's tenant; False if it was there."""
        ...

    def is_there(self) -> bool:
        """Whether the transaction's tenant was made."""
        ...

    def add_key(self, key_id: UUID, key_hash: bytes, key: NewKey, expires_at: datetime | None) -> None:
        """Stores a key under its hash."""
        ...

    def list_keys(self) -> list[KeySummary]:
        """The tenant's keys, newest first."""
        ...

    def revoke_key(self, key_id: UUID) -> bool:
        """Ends a key at once; False if the tenant has no such key that works."""
        ...
