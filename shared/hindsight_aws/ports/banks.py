"""Banks as use cases see them: found by the caller's id, created on first use, their settings kept under a lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class BankSummary:
    """A bank in a list; `matched_aliases` are those by which the list's text found it."""

    bank: Bank
    created_at: datetime
    updated_at: datetime
    facts: int
    last_document_at: datetime | None
    last_write_at: datetime | None
    primary_alias: str | None = None
    matched_aliases: tuple[str, ...] = ()


class Banks(Protocol):
    """The banks of the transaction's tenant.  Always reads the rows: a changed setting is seen by the next call."""

    def find(self, external_id: str) -> Bank | None:
        """The bank with this id, or None."""
        ...

    def by_id(self, bank_id: BankId) -> Bank | None:
        """The bank with this internal id, or None: for workers, whose messages carry it."""
        ...

    def create(self, external_id: str) -> Bank | None:
        """A new bank of this id; None where there is one already.  Raises: as `create_if_missing`."""
        ...

    def create_if_missing(self, external_id: str) -> Bank:
        """The bank with this id, made if there was none; two callers at once get the same bank.

        Raises: InvalidRequest for an id that no bank may have, Conflict for one that is another bank's alias.
        """
        ...

    def lock(self, external_id: str) -> Bank | None:
        """The bank, kept from change by anybody else until the transaction ends, or None.

        Memories may be added to it meanwhile.
        """
        ...

    def save(self, bank_id: BankId, name: str | None, overrides: Mapping[str, object]) -> None:
        """Replaces the bank's name and its own settings."""
        ...

    def page(self, text: str | None, patterns: Sequence[str] | None, limit: int, offset: int) -> Page[BankSummary]:
        """Banks, last written first: `text` is a case-insensitive substring of id, name or alias.

        `patterns`: only banks whose id one of these globs covers, as access.sees_bank says; None: every bank.
        """
        ...
