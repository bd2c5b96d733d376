"""Near-duplicates of scopes: looked for once a window under the scope's lease, and shown until somebody acts on them.

Called by consolidate/compact.py, the sweep and the API; kept by store/compaction.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class Likeness:
    """One observation of a pair, as it is now."""

    observation_id: UUID
    text: str
    proof_count: int


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two observations of one exact scope from a cosine upwards; `first` is the older one.

    `is_kept_apart`: these very texts were found to say different things.
    """

    first: Likeness
    second: Likeness
    similarity: float
    is_kept_apart: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pair that was found, with its scope, to be looked at."""

    tags: tuple[str, ...]
    pair: NearPair
    found_at: datetime


class Compactions(Protocol):
    """The near-duplicates of the transaction's tenant."""

    def open(self, bank_id: BankId, scope_id: UUID) -> bool:
        """Opens the scope's window, one row however often it is opened; False when nothing is to be looked at."""
        ...

    def begin_questions(self, bank_id: BankId, scope_id: UUID) -> int:
        """Counts a look at the scope's open window, to be committed before a model is asked; how many there were."""
        ...

    def put_off(self, bank_id: BankId, scope_id: UUID) -> None:
        """Lets the scope come again a window from now."""
        ...

    def pairs(self, bank_id: BankId, scope_id: UUID, at_least: float, at_most: int) -> list[NearPair]:
        """The scope's nearest pairs of at least this cosine, nearest first."""
        ...

    def keep_apart(self, bank_id: BankId, scope_id: UUID, pairs: Sequence[NearPair]) -> None:
        """Notes pairs that say different things: they are not asked about again until one is reworded."""
        ...

    def close(
        self, bank_id: BankId, lease: ScopeLease, pairs: Sequence[NearPair], merged: int, *, is_whole: bool
    ) -> None:
        """Ends the scope's window with what was found in it: these pairs take the place of those of earlier windows.

        Unless it was looked at as a whole it comes again a window from now.

        Raises: WorkSuperseded when the lease was lost.
        """
        ...

    def page(self, bank_id: BankId, sight: Sight, limit: int, offset: int) -> Page[Suggestion]:
        """Pairs in sight whose texts are still those that were compared, nearest first, those kept apart left out."""
        ...
