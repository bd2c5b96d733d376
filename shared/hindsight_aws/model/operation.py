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
BATCH_RETAIN = "batch_retain"
"""The parent of an async request's `retain` operations; it has no work of its own and ends when they have."""


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
    kind: str
    status: OperationStatus
    items_count: int
    attempts: int
    due_at: datetime
    error_message: str | None
    result: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on an operation until another takes its `fence` away; `attempts` counts this one."""

    operation_id: OperationId
    bank_id: BankId
    kind: str
    subject: str
    payload: Mapping[str, object]
    parent_id: OperationId | None
    document_ids: tuple[DocumentId, ...]
    fence: int
    attempts: int
    created_at: datetime
