"""The knowledge base of a bank: a tree of folders and pages, where each page is the text of a mental model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from hindsight_aws.model.trigger import Creator

NodeKind = Literal["folder", "page"]


@dataclass(frozen=True, slots=True)
class KnowledgeNode:
    """A folder, or a page; in no folder (`parent_id` None) it stands at the root.

    `page_id` is the mental model of a page, None for a folder.  `named_by` is who gave a folder its name, and with what
    sight; None for a page, whose model says so.  `named_at` is when that was, or when it was moved last.
    """

    id: str
    kind: NodeKind
    name: str
    parent_id: str | None
    page_id: UUID | None
    named_by: Creator | None
    named_at: datetime
