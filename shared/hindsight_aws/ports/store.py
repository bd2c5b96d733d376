"""The database as the use cases see it: tenant-bound transactions over repositories, and the two questions that cross tenants."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import TenantId


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What an API key's hash resolves to; expired and revoked keys are told apart from unknown ones."""

    tenant_id: TenantId
    key_id: UUID
    subject: str
    permissions: frozenset[str]
    bank_patterns: tuple[str, ...]
    forced_tags: object | None
    fact_types: frozenset[str] | None
    exact_scopes: tuple[tuple[str, ...], ...] | None
    is_expired: bool
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class DueWork:
    """A piece of pending work that nobody holds: `kind` is `operation:<kind>`, `consolidation` or `links`."""

    tenant_id: TenantId
    kind: str
    bank_id: UUID
    id: UUID


class Transaction(Protocol):
    """One unit of work of one tenant.  Its repositories are attributes; all they write is committed together or not at all."""


class Store(Protocol):
    """Promises isolation by tenant and all-or-nothing commits."""

    def transaction(self, tenant_id: TenantId) -> AbstractContextManager[Transaction]:
        """Opens a unit of work: commits when the block ends, rolls back when it raises.

        Raises: DatabaseUnavailable when no connection can be had, or when it broke (the outcome of a commit is then unknown
        to the caller, who must ask the rows).
        """
        ...

    def resolve_key(self, key_hash: bytes) -> KeyRecord | None:
        """The key with this SHA-256 hash, of whatever tenant, or None."""
        ...

    def due_work(self, at_most: int, auto_consolidation: bool) -> list[DueWork]:
        """Up to `at_most` due pieces of work of each kind, over all tenants; `auto_consolidation` is the server's default."""
        ...
