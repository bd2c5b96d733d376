"""An entry of the audit log: who called what on which bank, and how it ended; never what was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from hindsight_aws.model.ids import BankId

Transport = Literal["http", "mcp", "system"]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call; `bank` is the id that callers use, `status` the HTTP status that stands for how it ended.

    `targets` are ids of ours that the call named, by name: no text, and no id that a caller made up.
    """

    entry_id: UUID
    bank_id: BankId
    bank: str
    action: str
    transport: Transport
    subject: str
    status: int
    targets: Mapping[str, str]
    started_at: datetime
    ended_at: datetime
