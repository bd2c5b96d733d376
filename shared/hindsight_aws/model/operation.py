"""An operation: a piece of work with an outcome that somebody may ask about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hindsight_aws.model.ids import BankId, DocumentId, OperationId

OperationStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]

RETAIN = "retain"
CONSOLIDATION = "consolidation"
"""Covers the work of some scopes until it has ended; the work itself is consolidation_work's."""
FILE_CONVERT_RETAIN = "file_convert_retain"
"""Turns an uploaded file into text and ends by writing down the `retain` of that text."""
POLICY_REBUILD = "policy_rebuild"
"""Covers scopes whose observations are made anew because their mission changed or somebody asked."""
REFRESH_MENTAL_MODEL = "refresh_mental_model"
"""Writes a mental model's page anew, as a run of the reflect workflow."""
BATCH_RETAIN = "batch_retain"
"""The parent of an async request's `retain` operations; it has no work of its own and ends when they have."""
EXPORT_BANK = "export_bank"
EXPORT_DOCUMENTS = "export_documents"
IMPORT_BANK = "import_bank"
"""Makes a bank out of an archive."""
IMPORT_DOCUMENTS = "import_documents"
"""Adds the documents of an archive to a bank."""
CLONE_BANK = "clone_bank"
REEMBED = "reembed"
"""Makes a bank's vectors anew by another model, and puts them in place of those that serve."""
EXPORTS = frozenset({EXPORT_BANK, EXPORT_DOCUMENTS})
TRANSFERS = EXPORTS | {IMPORT_BANK, IMPORT_DOCUMENTS, CLONE_BANK}
"""What the transfer function works on."""


@dataclass(frozen=True, slots=True)
class NewOperation:
    """An operation to be written down, pending.

    `document_ids` are the documents its caller named: two operations on one document never run at once, nor out of
    order.
    """

    operation_id: OperationId
    kind: str
    subject: str
    payload: Mapping[str, object] = field(default_factory=dict)
    parent_id: OperationId | None = None
    items_count: int = 0
    document_external_id: str | None = None
    document_ids: tuple[DocumentId, ...] = ()
    result: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as its row has it now."""

    operation_id: OperationId
    bank_id: BankId
    parent_id: OperationId | None
    kind: str
    status: OperationStatus
    subject: str
    items_count: int
    attempts: int
    due_at: datetime
    created_at: datetime
    error_message: str | None
    error_kind: str | None
    result: Mapping[str, object]

    @property
    def is_open(self) -> bool:
        """Whether it has not ended yet."""
        return self.status in ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an attempt is, as callers are shown it; `detail` counts things by name."""

    stage: str
    processed: int
    total: int
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on an operation until another takes its `fence` away; `attempts` counts this one.

    `revivals` counts the rounds of attempts that came to nothing before.
    """

    operation_id: OperationId
    bank_id: BankId
    kind: str
    subject: str
    payload: Mapping[str, object]
    parent_id: OperationId | None
    document_ids: tuple[DocumentId, ...]
    fence: int
    attempts: int
    revivals: int
    created_at: datetime
