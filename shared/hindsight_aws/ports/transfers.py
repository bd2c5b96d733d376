"""Banks on their way into archives and out of them: rows as JSON, and banks that nobody sees until they are whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import Embedding, JsonObject


@dataclass(frozen=True, slots=True)
class TransferPlace:
    """How far a transfer is: `line` lines of `member` are done, and all members before it.

    `target_id` is the bank that is being made.  `counts`: what was done so far, by name.
    """

    archive_key: str
    is_offered: bool = False
    target_id: BankId | None = None
    member: str | None = None
    line: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OfferedArchive:
    """An archive that may be downloaded: of which bank, what the file is called, and whether it tells settings."""

    bank: str
    filename: str
    holds_settings: bool


@dataclass(frozen=True, slots=True)
class RowsWanted:
    """Which rows of a bank to read; `documents` None: of all documents."""

    documents: tuple[DocumentId, ...] | None
    with_whole: bool
    with_history: bool


@dataclass(frozen=True, slots=True)
class NewBank:
    """What a bank is called and set to once it is whole; `config` is its settings as JSON text."""

    external_id: str
    name: str | None
    config: str
    embedding_model: str | None


class Transfers(Protocol):
    """The transfers of the transaction's tenant."""

    def begin(self, lease: Lease, archive_key: str) -> TransferPlace:
        """How far the transfer is; at its beginning, when no attempt came before this one."""
        ...

    def move(self, lease: Lease, place: TransferPlace) -> None:
        """Notes how far the transfer is; the caller holds the operation by a renewed lease."""
        ...

    def archive_of(self, bank_id: BankId, operation_id: OperationId) -> str | None:
        """Where the archive of a transfer is, begun or not, or None."""
        ...

    def offered(self, archive_key: str) -> OfferedArchive | None:
        """The archive of an export that has ended well, or None."""
        ...

    def is_taken(self, external_id: str) -> bool:
        """Whether a bank or an alias has this name."""
        ...

    def read(self, bank_id: BankId, kind: str, wanted: RowsWanted) -> Iterator[str]:
        """The rows of a kind as JSON, one by one, while the transaction is open."""
        ...

    def make_bank(self, lease: Lease, bank_id: BankId, model: str) -> None:
        """A bank in the making, unless it is there: without a name, out of reach of callers and workers.

        `model` is what makes its vectors, whoever goes on with it.  It goes with the operation that makes it.
        """
        ...

    def write(
        self, bank_id: BankId, kind: str, rows: Sequence[JsonObject], vectors: Sequence[Embedding | None]
    ) -> None:
        """Writes rows of a kind into a bank in the making; memories with their postings, tags and counters.

        `vectors` stand in the order of the rows; none for kinds that have none.

        Raises: ArchiveRefused for rows that the schema refuses, or that refer to rows which are not there.
        """
        ...

    def reveal(self, bank_id: BankId, bank: NewBank) -> bool:
        """Gives a bank that is whole its name, settings and workers; False when the name is taken by now."""
        ...

    def abandon(self, bank_id: BankId, operation_id: OperationId) -> None:
        """Removes the bank that the operation was making, if it was making one; the transfer is at its beginning again.

        The caller holds the operation.
        """
        ...
