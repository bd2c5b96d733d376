"""Tenants and keys in Postgres, all but two methods for the owner's role alone.  Called through ports/tenants.py.

Calls sql/tenants.sql.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.principal import NewKey
from hindsight_aws.ports.tenants import KeyLife, KeySummary, Standing, TenantDetail, TenantSummary
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("tenants")


class PostgresTenants:
    """The tenant of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create_if_missing(self, name: str) -> bool:
        return self._session.execute(_SQL["create"], name=name) == 1

    def standing(self) -> Standing | None:
        row = self._session.row(_SQL["standing"])
        if row is None:
            return None
        return Standing.SUSPENDED if row["is_suspended"] else Standing.SERVED

    def detail(self) -> TenantDetail | None:
        row = self._session.row(_SQL["summary"])
        if row is None:
            return None
        summary = TenantSummary(row["tenant_id"], row["name"], row["created_at"], row["suspended_at"])
        return TenantDetail(summary, row["banks"], row["keys"])

    def rename(self, name: str) -> bool:
        return self._session.execute(_SQL["rename"], name=name) == 1

    def suspend(self) -> bool:
        return self._session.execute(_SQL["suspend"]) == 1

    def resume(self) -> bool:
        return self._session.execute(_SQL["resume"]) == 1

    def add_key(self, key_id: UUID, key_hash: bytes, key: NewKey, expires_at: datetime | None) -> None:
        scopes = key.exact_scopes
        self._session.execute(
            _SQL["add_key"],
            key_id=key_id,
            key_hash=key_hash,
            subject=key.subject,
            permissions=sorted(permission.value for permission in key.permissions),
            bank_patterns=list(key.bank_patterns),
            forced_tags=None if key.forced_tags is None else Jsonb(dict(key.forced_tags)),
            fact_types=None if key.fact_types is None else sorted(key.fact_types),
            exact_scopes=None if scopes is None else Jsonb([list(tags) for tags in scopes]),
            expires_at=expires_at,
        )

    def lock_key(self, key_id: UUID) -> KeyLife | None:
        row = self._session.row(_SQL["lock_key"], key_id=key_id)
        if row is None:
            return None
        successor = self._session.row(_SQL["successor"], key_id=key_id)
        return KeyLife(
            row["created_at"],
            row["expires_at"],
            row["revoked_at"],
            None if successor is None else successor["key_id"],
        )

    def add_successor(self, predecessor_id: UUID, key_id: UUID, key_hash: bytes, expires_at: datetime | None) -> None:
        self._session.execute(
            _SQL["add_successor"],
            predecessor_id=predecessor_id,
            key_id=key_id,
            key_hash=key_hash,
            expires_at=expires_at,
        )

    def end_key_by(self, key_id: UUID, until: datetime) -> None:
        self._session.execute(_SQL["end_key_by"], key_id=key_id, until=until)

    def list_keys(self) -> list[KeySummary]:
        return [_key(row) for row in self._session.rows(_SQL["list_keys"])]

    def revoke_key(self, key_id: UUID) -> bool:
        return self._session.execute(_SQL["revoke_key"], key_id=key_id) == 1

    def note_use(self, key_id: UUID) -> None:
        self._session.execute(_SQL["note_use"], key_id=key_id)


def _key(row: Row) -> KeySummary:
    return KeySummary(
        key_id=row["key_id"],
        subject=row["subject"],
        permissions=tuple(row["permissions"]),
        bank_patterns=tuple(row["bank_patterns"]),
        forced_tags=row["forced_tags"],
        fact_types=None if row["fact_types"] is None else tuple(row["fact_types"]),
        exact_scopes=row["exact_scopes"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        created_at=row["created_at"],
        predecessor_id=row["predecessor_id"],
        successor_id=row["successor_id"],
        last_used_at=row["last_used_at"],
    )
