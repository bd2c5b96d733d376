"""Tags in use, to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hindsight_aws.access import PageSight, Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.listing import Page


class Tags(Protocol):
    """The tags of the transaction's tenant."""

    def page(
        self, bank_id: BankId, sight: Sight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        """Tags with the number of memories that bear them, most used first; `pattern` has `*` for any text."""
        ...

    def of_models(
        self, bank_id: BankId, seen: PageSight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        """The same of mental models."""
        ...

    def names(self, bank_id: BankId, sight: Sight, at_most: int) -> Sequence[str] | None:
        """The tags of memories that the sight lets see, each once and in order.

        None when they are more than so many, or the bank's, seen or not, more than ten times as many.
        """
        ...
