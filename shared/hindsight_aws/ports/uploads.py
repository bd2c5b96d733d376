"""Uploads that were announced: which key belongs to which upload id, and the operation that took it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody was given a ticket for; `operation_id` once it was retained."""

    upload_id: UUID
    subject: str
    key: str
    filename: str
    content_type: str
    size: int
    operation_id: OperationId | None = None


class Uploads(Protocol):
    """The announced uploads of the transaction's tenant."""

    def add(self, bank_id: BankId, upload: Upload) -> None:
        """Writes the upload down."""
        ...

    def find(self, bank_id: BankId, upload_ids: Sequence[UUID], subject: str | None) -> dict[UUID, Upload]:
        """Those of the uploads that the bank has, and that are `subject`'s unless that is None."""
        ...

    def take(self, bank_id: BankId, upload_ids: Sequence[UUID]) -> dict[UUID, Upload]:
        """The uploads as they are now, kept from others, in id order, until the transaction ends."""
        ...

    def assign(self, bank_id: BankId, upload_id: UUID, operation_id: OperationId) -> None:
        """Notes which operation retains the upload."""
        ...

    def forget(self, bank_id: BankId, before: datetime) -> None:
        """Removes uploads that were announced before then: their bytes have expired."""
        ...
