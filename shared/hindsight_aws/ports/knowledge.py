"""The tree of folders and pages of a bank's knowledge base, and its pages as they are searched and exported.

Columns of `knowledge_pages`, for whoever copies it: node_id, parent_id, kind, name, page_id (the mental model of a
page) and named_by (of a folder, as `creator_to_json` writes it).  Parents go before what is in them, a page after its
model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import PageSight
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.ports.model_gateway import QueryVector


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as a search reads it; its text is cut at 40,000 characters, and empty while it is withheld."""

    node_id: str
    model_id: str
    name: str
    source_query: str
    content: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page that is near to a vector; `relevance` is the cosine."""

    node_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class PastText:
    """A text that a page had until `changed_at`; None where something that it rested on is gone."""

    page_id: UUID
    changed_at: datetime
    content: str | None


class KnowledgeBases(Protocol):
    """The knowledge bases of the transaction's tenant."""

    def lock_tree(self, bank_id: BankId) -> None:
        """Keeps others from changing the bank's tree until the transaction ends; before any row is locked.

        A mental model that is deleted by itself still takes its page with it.
        """
        ...

    def nodes(self, bank_id: BankId) -> list[KnowledgeNode]:
        """Every folder and page, by name."""
        ...

    def seen(self, bank_id: BankId, seen: PageSight) -> frozenset[UUID]:
        """The mental models in sight that are pages."""
        ...

    def add(self, bank_id: BankId, node: KnowledgeNode) -> bool:
        """Writes a node; False where the folder has a page of that name, however its letters are written."""
        ...

    def change(self, bank_id: BankId, node: KnowledgeNode) -> bool:
        """Writes the node's name, place and namer; False as `add`.  After its mental model in the order of locks."""
        ...

    def rename_page(self, bank_id: BankId, page_id: UUID, name: str) -> bool:
        """The page of a mental model, if it is one, has the model's new name; False as `add`."""
        ...

    def remove_folders(self, bank_id: BankId, ids: Collection[str]) -> None:
        """Removes folders that hold nothing else any more."""
        ...

    def texts(self, bank_id: BankId, ids: Sequence[str], seen: PageSight) -> list[PageText]:
        """The pages among these ids that are in sight, in the order asked for."""
        ...

    def likely(self, bank_id: BankId, beginnings: Collection[str], seen: PageSight, at_most: int) -> list[PageText]:
        """Pages in sight, those first that hold words with the most of these beginnings, in small letters."""
        ...

    def nearest(
        self, bank_id: BankId, wanted: QueryVector, least: float, seen: PageSight, at_most: int
    ) -> list[NearPage]:
        """The pages with text in sight that are at least so near to the vector, nearest first."""
        ...

    def past(self, bank_id: BankId, ids: Collection[UUID], each: int, most_bytes: int) -> list[PastText]:
        """The former texts of these mental models, the latest of each first and so many at most.

        As many as fit into so many bytes, those of each model that are latest.
        """
        ...
