"""Aliases as use cases see them: other names of a bank, each of one bank of the tenant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hindsight_aws.model.ids import BankId


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of a bank; `is_primary`: the one that lists show."""

    name: str
    is_primary: bool


@dataclass(frozen=True, slots=True)
class NamedBank:
    """A bank that a name means; `is_audited` None: as the server says."""

    bank_id: BankId
    external_id: str
    is_audited: bool | None


class Aliases(Protocol):
    """The aliases of the transaction's tenant."""

    def named(self, name: str) -> NamedBank | None:
        """The bank that the name means: by its own id, or else by an alias; None when it means none."""
        ...

    def of_bank(self, bank_id: BankId) -> Sequence[Alias]:
        """The bank's aliases, the primary one first, then the oldest."""
        ...

    def add(self, bank_id: BankId, name: str) -> bool:
        """Gives the bank a name; False when a bank or another alias has it."""
        ...

    def mark(self, bank_id: BankId, name: str, *, is_primary: bool) -> bool:
        """Makes the alias the bank's one primary alias, or an ordinary one; False when the bank has none of it.

        To be called under the bank's lock.
        """
        ...

    def remove(self, bank_id: BankId, name: str) -> bool:
        """Takes the name away; False when the bank has none of it."""
        ...
