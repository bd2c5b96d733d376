"""Scopes: the work that retain opens in them, and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, ScopeId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.page import Page


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope: how many observations it holds, and how its work stands."""

    tags: tuple[str, ...]
    observations: int
    pending: int
    failed: int


class Scopes(Protocol):
    """The scopes of the transaction's tenant."""

    def open_work(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> None:
        """One pending work row for each fact and scope, the scopes made where missing.

        A fact without a scope gets one row that says so.
        """
        ...

    def ids(self, bank_id: BankId, scopes: Sequence[Scope]) -> list[ScopeId]:
        """The ids of these scopes, as far as they exist."""
        ...

    def page(self, bank_id: BankId, sight: Sight, *, with_pending: bool, limit: int, offset: int) -> Page[ScopeView]:
        """Scopes in sight, most observations first; without `with_pending`, only those that hold some."""
        ...
