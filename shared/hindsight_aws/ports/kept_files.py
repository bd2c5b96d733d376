"""Files that are kept after their text was retained: each is a document's, and goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file under a key of its own; `operation_id` converts it, `retain_operation_id` retains its text."""

    file_id: UUID
    key: str
    filename: str
    content_type: str
    size: int
    operation_id: OperationId
    retain_operation_id: OperationId


class KeptFiles(Protocol):
    """The kept files of the transaction's tenant.  `Documents.set_files` makes one a document's."""

    def add(self, bank_id: BankId, kept: KeptFile) -> None:
        """Writes the file down, before its bytes are stored: what is in the bucket is known of."""
        ...

    def condemn(self, bank_id: BankId, at_most: int) -> Mapping[UUID, str]:
        """Keys of files that no document holds any more, or none will; from now on none can."""
        ...

    def remove(self, bank_id: BankId, file_ids: Sequence[UUID]) -> None:
        """Removes condemned files, whose bytes are gone."""
        ...
