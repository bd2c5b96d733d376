"""Directives of banks, to keep and to apply."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.directive import Directive
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class DirectiveText:
    """What a caller says of a directive: all of it but its id and its times."""

    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: tuple[str, ...] = ()


class Directives(Protocol):
    """The directives of the transaction's tenant; a `sight` hides those whose tags do not pass it."""

    def applying(
        self, bank_id: BankId, tags: TagFilter, apply_all: bool = False, limits: TagFilter | None = None
    ) -> list[Directive]:
        """The active directives that apply to a request with these tags, as `selection` has it: at most 200 of them.

        By priority, then newest first.
        """
        ...

    def among(self, bank_id: BankId, ids: Collection[UUID]) -> set[UUID]:
        """Which of these ids are still those of directives."""
        ...

    def page(self, bank_id: BankId, sight: TagFilter, *, only_active: bool, limit: int, offset: int) -> Page[Directive]:
        """Directives in the same order."""
        ...

    def view(self, bank_id: BankId, sight: TagFilter, directive_id: UUID) -> Directive | None:
        """One directive, or None."""
        ...

    def lock(self, bank_id: BankId, sight: TagFilter, directive_id: UUID) -> Directive | None:
        """One directive, locked for other writers until the transaction ends; or None."""
        ...

    def add(self, bank_id: BankId, directive_id: UUID, text: DirectiveText) -> Directive:
        """Writes a new directive."""
        ...

    def save(self, bank_id: BankId, directive_id: UUID, text: DirectiveText) -> Directive:
        """Replaces what a locked directive says."""
        ...

    def delete(self, bank_id: BankId, directive_id: UUID) -> None:
        """Removes a directive; one that is not there stays away."""
        ...
