"""Tenants and keys in Postgres, for the owner's role alone.  Called through ports/tenants.py; calls sql/tenants.sql."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.principal import NewKey
from hindsight_aws.ports.tenants import KeySummary
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("tenants")


class PostgresTenants:
    """The tenant of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create_if_missing(self, name: str) -> bool:
        return self._session.execute(_SQL["create"], name=name) == 1

    def is_there(self) -> bool:
        return self._session.row(_SQL["is_there"]) is not None

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

    def list_keys(self) -> list[KeySummary]:
        return [
            KeySummary(
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
            )
            for row in self._session.rows(_SQL["list_keys"])
        ]

    def revoke_key(self, key_id: UUID) -> bool:
        return self._session.execute(_SQL["revoke_key"], key_id=key_id) == 1
