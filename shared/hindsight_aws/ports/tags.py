"""Tags in use, to look at."""

from __future__ import annotations

from typing import Protocol

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.page import Page


class Tags(Protocol):
    """The tags of the transaction's tenant."""

    def page(
        self, bank_id: BankId, sight: Sight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        """Tags with the number of memories that bear them, most used first; `pattern` has `*` for any text."""
        ...
