"""A mental model: a page that keeps the answer to a standing question."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from hindsight_aws.model.trigger import Creator, Document, Trigger


@dataclass(frozen=True, slots=True)
class NewMentalModel:
    """A model to be written down, without text yet."""

    page_id: UUID
    id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger
    creator: Creator
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class MentalModel:
    """A model as its row has it.

    `id` is what callers name it by, `page_id` what rows do.  `version` counts the texts it had; `structure` is its text
    in sections, None where it has none.  `written_query` is the question its text answers.  `last_memory_seen_at` is
    the latest change to a memory that a refresh saw.  `is_paused`: its last refresh failed, and automatic ones wait.
    """

    page_id: UUID
    id: str
    name: str
    source_query: str
    content: str
    structure: Document | None
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger
    creator: Creator
    response: Document | None
    version: int
    written_query: str | None
    is_paused: bool
    last_refreshed_at: datetime | None
    last_full_refreshed_at: datetime | None
    last_memory_seen_at: datetime | None
    last_refresh_failed_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Citation:
    """A memory that a text rests on; `text` is what it said.

    `is_gone`: it says that no more, be it there in other words.
    """

    id: UUID
    kind: str
    text: str
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class PageChange:
    """What a refresh came to.

    `snapshot` and `seen` say which memories it saw; `citations` are all that the new text rests on.
    """

    content: str
    structure: Document
    vector: tuple[float, ...] | None
    embedding_model: str | None
    response: Document
    query: str
    is_full: bool
    seen: datetime | None
    snapshot: str
    citations: tuple[Citation, ...] = field(default=())
