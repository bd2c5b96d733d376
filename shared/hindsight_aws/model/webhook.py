"""Events that webhooks tell of: what ended, how, and what it is about.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from uuid import UUID, uuid5

CONSOLIDATION_COMPLETED: Final = "consolidation.completed"
RETAIN_COMPLETED: Final = "retain.completed"
_NAMESPACE: Final = UUID("6f0f1d52-7a1f-4c0c-8b57-3b6f1ea8f0c4")


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """One thing to tell: the end of an operation, or, with `about`, of one part of it, such as a document.

    `data` holds ids, tags and counts, never text of a memory.
    """

    event: str
    operation_id: UUID
    status: Literal["completed", "failed"]
    data: Mapping[str, object] = field(default_factory=dict)
    about: str = ""

    @property
    def event_id(self) -> UUID:
        """The same for the same end of the same operation, however often it is told."""
        return uuid5(_NAMESPACE, "\n".join((self.event, str(self.operation_id), self.status, self.about)))
