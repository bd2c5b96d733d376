"""Scopes in Postgres.  Called through ports/scopes.py; calls sql/scopes.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, ScopeId, UnitId, derived_uuid
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.scopes import ScopeView
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("scopes")


class PostgresScopes:
    """The scopes of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open_work(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> None:
        if scopes_of:
            self._session.execute(_SQL["open_work"], **self._opening(bank_id, scopes_of))

    def _opening(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> dict[str, object]:
        """Makes the scopes where missing; the parameters of the statement that opens work in them."""
        keys = {scope: scope.key for scopes in scopes_of.values() for scope in scopes}
        made = [
            {"scope_id": str(self._id(bank_id, key)), "scope_key": key, "tags": scope.tags}
            for scope, key in keys.items()
        ]
        self._session.execute(_SQL["make_scopes"], bank_id=bank_id, scopes=Jsonb(made))
        rows: list[tuple[UnitId, str | None]] = []
        for fact_id, scopes in scopes_of.items():
            rows += [(fact_id, keys[scope]) for scope in scopes] or [(fact_id, None)]
        return {
            "bank_id": bank_id,
            "work_ids": [derived_uuid("work", fact_id, key or "none") for fact_id, key in rows],
            "fact_ids": [fact_id for fact_id, _ in rows],
            "scope_keys": [key for _, key in rows],
        }

    def recompute(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> list[ScopeId]:
        # Scopes are made before work is locked: a new one waits for whoever makes the same.
        opening = self._opening(bank_id, scopes_of) if scopes_of else None
        wanted = [(fact_id, self._id(bank_id, scope.key)) for fact_id, scopes in scopes_of.items() for scope in scopes]
        left = self._session.tuples(
            _SQL["left"],
            bank_id=bank_id,
            fact_ids=list(scopes_of),
            wanted_by=[fact_id for fact_id, _ in wanted],
            wanted=[scope_id for _, scope_id in wanted],
        )
        reopened: list[ScopeId] = []
        if left:
            facts, scopes = [fact_id for fact_id, _ in left], [ScopeId(scope_id) for _, scope_id in left]
            reopened = PostgresObservations(self._session).sweep(bank_id, facts, scopes)
        nowhere = [(fact_id, None) for fact_id, scopes in scopes_of.items() if scopes]
        closed = [*left, *nowhere]
        self._session.execute(
            _SQL["close_work"],
            bank_id=bank_id,
            fact_ids=[fact_id for fact_id, _ in closed],
            scope_ids=[scope_id for _, scope_id in closed],
        )
        opened = self._session.rows(_SQL["open_work"], **opening) if opening is not None else []
        entered = [ScopeId(row["scope_id"]) for row in opened if row["scope_id"] is not None]
        return list(dict.fromkeys([*reopened, *entered]))

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
            ScopeView(
                tags=tuple(row["tags"]),
                observations=row["observations"],
                pending=row["pending"],
                failed=row["failed"],
                brief_hash=row["brief_hash"],
                is_rebuilding=row["is_rebuilding"],
            )
            for row in rows
            if row["tags"] is not None
        ]
        return Page(found, rows[0]["total"])

    def _id(self, bank_id: BankId, key: str) -> object:
        return derived_uuid("scope", self._session.tenant_id, bank_id, key)
