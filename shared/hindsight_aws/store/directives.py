"""Directives in Postgres.  Called through ports/directives.py; calls sql/directives.sql."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from hindsight_aws.model.directive import Directive, selection
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.directives import DirectiveText
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import Query, queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.tag_predicate import predicate_of

_SQL = queries("directives")
_MOST_APPLYING: Final = 200


class PostgresDirectives:
    """The directives of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def applying(
        self, bank_id: BankId, tags: TagFilter, apply_all: bool = False, limits: TagFilter | None = None
    ) -> list[Directive]:
        chosen = predicate_of(selection(tags, apply_all, limits)).params()
        rows = self._session.rows(_SQL["applying"], bank_id=bank_id, at_most=_MOST_APPLYING, **chosen)
        return [_directive(row) for row in rows]

    def among(self, bank_id: BankId, ids: Collection[UUID]) -> set[UUID]:
        return {row["id"] for row in self._session.rows(_SQL["among"], bank_id=bank_id, ids=list(ids))}

    def page(self, bank_id: BankId, sight: TagFilter, *, only_active: bool, limit: int, offset: int) -> Page[Directive]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            only_active=only_active,
            limit=limit,
            offset=offset,
            **predicate_of(sight).params(),
        )
        return Page([_directive(row) for row in rows if row["id"] is not None], rows[0]["total"])

    def view(self, bank_id: BankId, sight: TagFilter, directive_id: UUID) -> Directive | None:
        return self._one(_SQL["view"], bank_id, sight, directive_id)

    def lock(self, bank_id: BankId, sight: TagFilter, directive_id: UUID) -> Directive | None:
        return self._one(_SQL["lock"], bank_id, sight, directive_id)

    def add(self, bank_id: BankId, directive_id: UUID, text: DirectiveText) -> Directive:
        return self._written(_SQL["add"], bank_id, directive_id, text)

    def save(self, bank_id: BankId, directive_id: UUID, text: DirectiveText) -> Directive:
        return self._written(_SQL["save"], bank_id, directive_id, text)

    def delete(self, bank_id: BankId, directive_id: UUID) -> None:
        self._session.execute(_SQL["delete"], bank_id=bank_id, directive_id=directive_id)

    def _one(self, query: Query, bank_id: BankId, sight: TagFilter, directive_id: UUID) -> Directive | None:
        row = self._session.row(query, bank_id=bank_id, directive_id=directive_id, **predicate_of(sight).params())
        return None if row is None else _directive(row)

    def _written(self, query: Query, bank_id: BankId, directive_id: UUID, text: DirectiveText) -> Directive:
        row = self._session.row(
            query,
            bank_id=bank_id,
            directive_id=directive_id,
            name=text.name,
            content=text.content,
            priority=text.priority,
            is_active=text.is_active,
            tags=list(text.tags),
        )
        if row is None:
            raise AssertionError("a directive that was locked is not there")
        return _directive(row)


def _directive(row: Row) -> Directive:
    return Directive(
        id=row["id"],
        name=row["name"],
        content=row["content"],
        priority=row["priority"],
        is_active=row["is_active"],
        tags=tuple(row["tags"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
