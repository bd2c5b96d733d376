"""Erasures as use cases see them: written down, carried on part by part, and kept after what they erased is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.erasure import Erasure, ErasureId, NewErasure, Signature
from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.ports.listing import Page

Part = Literal[
    "operations",
    "archives",
    "documents",
    "facts",
    "invalidated",
    "scopes",
    "directives",
    "pages",
    "runs",
    "cited",
    "names",
]
"""What carries tags, or rests on what does, in the order in which it goes: later parts lose what earlier ones leave.

`archives` are those of transfers; `invalidated` are facts out of use.
"""


@dataclass(frozen=True, slots=True)
class BankGone:
    """How many facts, observations, entities and documents were in a bank; `is_over`: no row of it is left."""

    contents: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class PartGone:
    """Whom to wake after a part went: scopes in which other facts wait again, operations that have less left to do."""

    scopes: tuple[ScopeId, ...] = ()
    operations: tuple[OperationId, ...] = ()


class Erasures(Protocol):
    """The erasures of the transaction's tenant.  Every method that removes rows counts them in its erasure."""

    def begin_bank(self, new: NewErasure, at_once: int) -> BankGone | None:
        """Takes a bank out of everybody's reach, at once with all it holds if that is `at_once` memories or fewer.

        Waits for whoever is writing to it.  None when the bank is gone already: nothing is written down then.
        """
        ...

    def begin_tags(self, new: NewErasure) -> None:
        """Writes the erasure of what carries tags down; what is accepted later is not meant by it."""
        ...

    def find(self, erasure_id: ErasureId) -> Erasure | None:
        """The erasure, or None."""
        ...

    def page(self, patterns: Sequence[str] | None, limit: int, offset: int) -> Page[Erasure]:
        """Erasures, the latest first; `patterns`: of banks whose id one of these globs covers."""
        ...

    def tombstone(self, bank_id: BankId) -> ErasureId | None:
        """The erasure of this bank, or None for one that was never erased: for messages that come late."""
        ...

    def take_lease(self, erasure_id: ErasureId, seconds: float) -> int | None:
        """The fence under which the erasure may be carried on.

        None while somebody else does, before it is due, and when it is over.
        """
        ...

    def lock(self, erasure_id: ErasureId, fence: int) -> None:
        """Keeps the erasure from others until the transaction ends.  Raises: WorkSuperseded when the lease is lost."""
        ...

    def give_back(self, erasure_id: ErasureId, fence: int, seconds: float) -> None:
        """Gives the lease back; the erasure is due again after so many seconds."""
        ...

    def erase_slice(self, erasure: Erasure, at_most: int) -> bool:
        """Deletes the next rows of a bank out of reach; whether any may be left."""
        ...

    def targets(self, erasure: Erasure, part: Part, at_most: int) -> list[UUID]:
        """What of a part is still to go."""
        ...

    def erase(self, erasure: Erasure, part: Part, ids: Sequence[UUID]) -> PartGone:
        """Deletes these of a part, with all that hangs on them; documents and scopes one at a time."""
        ...

    def is_waited_for(self, erasure: Erasure) -> bool:
        """Whether a reflect run from before still goes on: what it read may still be written."""
        ...

    def rows_gone(self, erasure_id: ErasureId, ticket_seconds: float) -> None:
        """No row is left; stored files go after `ticket_seconds`, when nobody can bring one any more."""
        ...

    def objects_gone(self, erasure_id: ErasureId, keys: Sequence[str]) -> None:
        """These of the stored files are gone."""
        ...

    def settle(self, erasure_id: ErasureId, digest: str) -> None:
        """Nothing of the receipt changes any more; `digest` is its canonical form's."""
        ...

    def sign(self, erasure_id: ErasureId, digest: str, signature: Signature) -> None:
        """Adds the signature of the complete receipt with this digest."""
        ...
