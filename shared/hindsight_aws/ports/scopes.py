"""Scopes: the work that retain opens in them, and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, ScopeId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope: how many observations it holds, how its work stands, and whether its next generation is being made.

    `brief_hash`: the mission that its observations were written under (model/strategy.Policy.brief_hash), if any was.
    """

    tags: tuple[str, ...]
    observations: int
    pending: int
    failed: int
    brief_hash: str | None
    is_rebuilding: bool


class Scopes(Protocol):
    """The scopes of the transaction's tenant."""

    def open_work(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> None:
        """One pending work row for each fact and scope, the scopes made where missing.

        A fact without a scope gets one row that says so.
        """
        ...

    def recompute(self, bank_id: BankId, scopes_of: Mapping[UnitId, Sequence[Scope]]) -> list[ScopeId]:
        """Moves facts, locked by the caller, to these scopes: what they were in and are still in is not touched.

        Observations that rest on a fact end in the scopes it leaves, as `Observations.sweep` says; it waits in those it
        enters.  Returns the scopes that have work now.
        """
        ...

    def ids(self, bank_id: BankId, scopes: Sequence[Scope]) -> list[ScopeId]:
        """The ids of these scopes, as far as they exist."""
        ...

    def page(self, bank_id: BankId, sight: Sight, *, with_pending: bool, limit: int, offset: int) -> Page[ScopeView]:
        """Scopes in sight, most observations first; without `with_pending`, only those that hold some."""
        ...
