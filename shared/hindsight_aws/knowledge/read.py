"""Looks at the knowledge base: its tree with the pages' state, a page, and all of it as files.  Called by the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hindsight_aws.access import page_sight
from hindsight_aws.errors import TooLarge
from hindsight_aws.knowledge.markdown import index_markdown, log_markdown, page_markdown
from hindsight_aws.knowledge.tree import Tree, node_not_found, tree_in_sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.knowledge import PastText
from hindsight_aws.ports.mental_models import ModelView
from hindsight_aws.ports.store import Transaction

LARGEST_EXPORT: Final = 4 * 1024 * 1024
"""Bytes of all files; as JSON, with what has to be escaped, they must fit the 6 MB that a function may answer."""
_ALL: Final = 10_000


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A tree as a caller sees it, with the mental models of those pages that were asked for, by the pages' ids."""

    tree: Tree
    views: Mapping[str, ModelView]


def look(tx: Transaction, principal: Principal, bank_id: BankId, wanted: TagFilter) -> KnowledgeBase:
    """The bank's knowledge base; the filter asks for pages by their own tags and leaves folders alone."""
    tree, among = tree_in_sight(tx, principal, bank_id), page_sight(principal)
    found = tx.mental_models.page(bank_id, among, wanted, _ALL, 0, in_knowledge_base=True).items
    by_model = {view.model.page_id: view for view in found}
    views = {
        node.id: by_model[node.page_id]
        for node in _pages(tree, None)
        if node.page_id is not None and node.page_id in by_model
    }
    return KnowledgeBase(tree, views)


def look_up(tx: Transaction, principal: Principal, bank_id: BankId, node_id: str) -> tuple[KnowledgeNode, ModelView]:
    """The page with its mental model.  Raises NotFound where there is none in sight."""
    node = tree_in_sight(tx, principal, bank_id).find(node_id)
    model = None if node.page_id is None else tx.mental_models.find(bank_id, node.page_id)
    view = None if model is None else tx.mental_models.view(bank_id, model.id, page_sight(principal))
    if view is None:
        raise node_not_found(node_id)
    return node, view


def export(tx: Transaction, principal: Principal, bank_id: BankId, versions: int) -> dict[str, str]:
    """Every page in sight as a file, and its log of so many former texts at most; `index.md` names them all.

    Former texts are left out where all would be too large, the oldest first, and their log says so.

    Raises: TooLarge where the pages alone are.
    """
    base = look(tx, principal, bank_id, TagFilter())
    pages = [node for node in _pages(base.tree, None) if node.id in base.views]
    files = {"index.md": index_markdown(base.tree, base.views)}
    files |= {f"{node.id}.md": page_markdown(node, base.views[node.id]) for node in pages}
    left = LARGEST_EXPORT - sum(len(text.encode()) for text in files.values())
    if left < 0:
        raise TooLarge(f"The pages are more than {LARGEST_EXPORT // 1024 // 1024} MB: read them one by one")
    past = _past(tx, bank_id, pages, versions, left)
    for node in pages:
        texts = past[node.page_id]
        files[f"{node.id}.log.md"] = log_markdown(
            node, texts, is_whole=len(texts) >= min(versions, base.views[node.id].model.version)
        )
    return files


def _past(
    tx: Transaction, bank_id: BankId, pages: list[KnowledgeNode], versions: int, most_bytes: int
) -> Mapping[UUID | None, list[PastText]]:
    past: dict[UUID | None, list[PastText]] = defaultdict(list)
    models = [node.page_id for node in pages if node.page_id is not None]
    for text in tx.knowledge.past(bank_id, models, versions, most_bytes):
        past[text.page_id].append(text)
    return past


def _pages(tree: Tree, folder_id: str | None) -> list[KnowledgeNode]:
    """The pages in sight, folder by folder."""
    found: list[KnowledgeNode] = []
    for node in tree.within(folder_id):
        found += [node] if node.kind == "page" else _pages(tree, node.id)
    return found
