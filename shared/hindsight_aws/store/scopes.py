"""Scopes in Postgres.  Called through ports/scopes.py; calls sql/scopes.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, ScopeId, UnitId, derived_uuid
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.page import Page
from hindsight_aws.ports.scopes import ScopeView
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("scopes")


class PostgresScopes:
    """The scopes of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open_work(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> None:
        if not scopes_of:
            return
        keys = {scope: scope.key for scopes in scopes_of.values() for scope in scopes}
        made = [
            {"scope_id": str(self._id(bank_id, key)), "scope_key": key, "tags": scope.tags}
            for scope, key in keys.items()
        ]
        self._session.execute(_SQL["make_scopes"], bank_id=bank_id, scopes=Jsonb(made))
        rows: list[tuple[UnitId, str | None]] = []
        for fact_id, scopes in scopes_of.items():
            rows += [(fact_id, keys[scope]) for scope in scopes] or [(fact_id, None)]
        self._session.execute(
            _SQL["open_work"],
            bank_id=bank_id,
            work_ids=[derived_uuid("work", fact_id, key or "none") for fact_id, key in rows],
            fact_ids=[fact_id for fact_id, _ in rows],
            scope_keys=[key for _, key in rows],
        )

    def ids(self, bank_id: BankId, scopes: Sequence[Scope]) -> list[ScopeId]:
        keys = [scope.key for scope in scopes]
        return [ScopeId(row[0]) for row in self._session.tuples(_SQL["ids"], bank_id=bank_id, scope_keys=keys)]

    def page(self, bank_id: BankId, sight: Sight, *, with_pending: bool, limit: int, offset: int) -> Page[ScopeView]:
        if "observation" not in sight.fact_types:
            return Page((), 0)
        seen = sight_params(sight)
        del seen["fact_types"]
        rows = self._session.rows(
            _SQL["page"], bank_id=bank_id, with_pending=with_pending, limit=limit, offset=offset, **seen
        )
        found = [
            ScopeView(tuple(row["tags"]), row["observations"], row["pending"], row["failed"])
            for row in rows
            if row["tags"] is not None
        ]
        return Page(found, rows[0]["total"])

    def _id(self, bank_id: BankId, key: str) -> object:
        return derived_uuid("scope", self._session.tenant_id, bank_id, key)
