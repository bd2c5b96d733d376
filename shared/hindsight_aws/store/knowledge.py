"""Knowledge bases in Postgres.  Called through ports/knowledge.py; calls sql/knowledge.sql."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.access import PageSight
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.model.trigger import creator_from_json, creator_to_json
from hindsight_aws.ports.knowledge import NearPage, PageText, PastText
from hindsight_aws.ports.model_gateway import QueryVector
from hindsight_aws.store.connection import Row
from hindsight_aws.store.mental_model_rows import seen_params
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector

_SQL = queries("knowledge")


class PostgresKnowledgeBases:
    """The knowledge bases of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def lock_tree(self, bank_id: BankId) -> None:
        self._session.execute(_SQL["lock_tree"], bank_id=str(bank_id))

    def nodes(self, bank_id: BankId) -> list[KnowledgeNode]:
        return [_node(row) for row in self._session.rows(_SQL["nodes"], bank_id=bank_id)]

    def seen(self, bank_id: BankId, seen: PageSight) -> frozenset[UUID]:
        rows = self._session.tuples(_SQL["seen"], bank_id=bank_id, **seen_params(seen))
        return frozenset(page_id for (page_id,) in rows)

    def add(self, bank_id: BankId, node: KnowledgeNode) -> bool:
        added = self._session.execute(
            _SQL["add"], bank_id=bank_id, kind=node.kind, page_id=node.page_id, **_said_of(node)
        )
        return added == 1

    def change(self, bank_id: BankId, node: KnowledgeNode) -> bool:
        return self._session.execute(_SQL["change"], bank_id=bank_id, **_said_of(node)) == 1

    def rename_page(self, bank_id: BankId, page_id: UUID, name: str) -> bool:
        row = self._session.row(_SQL["rename_page"], bank_id=bank_id, page_id=page_id, name=name)
        return row is not None and row["is_free"] is True

    def remove_folders(self, bank_id: BankId, ids: Collection[str]) -> None:
        self._session.execute(_SQL["remove_folders"], bank_id=bank_id, ids=sorted(ids))

    def texts(self, bank_id: BankId, ids: Sequence[str], seen: PageSight) -> list[PageText]:
        rows = self._session.rows(_SQL["texts"], bank_id=bank_id, ids=list(ids), **seen_params(seen))
        found = {row["node_id"]: PageText(**row) for row in rows}
        return [found[node_id] for node_id in ids if node_id in found]

    def likely(self, bank_id: BankId, beginnings: Collection[str], seen: PageSight, at_most: int) -> list[PageText]:
        asked = {"beginnings": sorted(beginnings), "at_most": at_most}
        rows = self._session.rows(_SQL["likely"], bank_id=bank_id, **asked, **seen_params(seen))
        return [PageText(**row) for row in rows]

    def nearest(
        self, bank_id: BankId, wanted: QueryVector, least: float, seen: PageSight, at_most: int
    ) -> list[NearPage]:
        vector = None if wanted.values is None else half_vector(wanted.values)
        if vector is None:
            return []
        asked = {"vector": vector, "embedding_model": wanted.model, "least": least, "at_most": at_most}
        rows = self._session.rows(_SQL["nearest"], bank_id=bank_id, **asked, **seen_params(seen))
        return [NearPage(row["node_id"], float(row["relevance"])) for row in rows]

    def past(self, bank_id: BankId, ids: Collection[UUID], each: int, most_bytes: int) -> list[PastText]:
        asked = {"page_ids": sorted(ids), "each": each, "most_bytes": most_bytes}
        return [PastText(**row) for row in self._session.rows(_SQL["past"], bank_id=bank_id, **asked)]


def _said_of(node: KnowledgeNode) -> dict[str, object]:
    return {
        "node_id": node.id,
        "parent_id": node.parent_id,
        "name": node.name,
        "named_by": None if node.named_by is None else Jsonb(creator_to_json(node.named_by)),
        "named_at": node.named_at,
    }


def _node(row: Row) -> KnowledgeNode:
    return KnowledgeNode(
        row["node_id"],
        row["kind"],
        row["name"],
        row["parent_id"],
        row["page_id"],
        None if row["named_by"] is None else creator_from_json(row["named_by"]),
        row["named_at"],
    )
