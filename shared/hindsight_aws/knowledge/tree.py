"""A bank's tree of folders and pages as one caller sees it, and what may be put where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from hindsight_aws.access import is_limited, page_sight, sees_folder
from hindsight_aws.errors import Conflict, InvalidRequest, NotFound
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.knowledge import KnowledgeNode, NodeKind
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.store import Transaction

MOST_FOLDERS: Final = 500
DEEPEST: Final = 16
"""Folders in one another; a page may lie in the deepest."""


class Tree:
    """All nodes of a bank; `visible` are those in the caller's sight, and with each the folders that it lies in."""

    def __init__(self, nodes: Sequence[KnowledgeNode], in_sight: Collection[str]) -> None:
        self._by_id = {node.id: node for node in nodes}
        self._within: dict[str | None, list[KnowledgeNode]] = defaultdict(list)
        for node in nodes:
            self._within[node.parent_id].append(node)
        self.visible = {above.id for node in nodes if node.id in in_sight for above in self._path(node)}

    def find(self, node_id: str) -> KnowledgeNode:
        """The node.  Raises NotFound where there is none in sight."""
        node = self._by_id.get(node_id)
        if node is None or node.id not in self.visible:
            raise node_not_found(node_id)
        return node

    def within(self, folder_id: str | None) -> list[KnowledgeNode]:
        """What lies in the folder and is in sight, folders first; None: what lies at the root."""
        shown = [node for node in self._within[folder_id] if node.id in self.visible]
        return sorted(shown, key=lambda node: node.kind != "folder")

    def below(self, node: KnowledgeNode) -> list[KnowledgeNode]:
        """The node and all that lies in it, in sight or not."""
        found = [node]
        for each in found:
            found += self._within[each.id]
        return found

    def require_place(self, folder_id: str | None, kind: NodeKind, moved: KnowledgeNode | None = None) -> None:
        """Lets a new node of the kind, or one that is moved, be put into the folder (None: at the root).

        Raises: InvalidRequest where there is no such folder in sight, where the folder lies in what is moved, and where
        folders would lie in one another too deep.
        """
        if folder_id is None:
            return
        folder = self._by_id.get(folder_id)
        if folder is None or folder.id not in self.visible or folder.kind != "folder":
            raise InvalidRequest(f"parent_id: there is no folder {folder_id!r}")
        path = self._path(folder)
        if moved is not None and moved.id in {above.id for above in path}:
            raise InvalidRequest("parent_id: a folder cannot be moved into itself or into what lies in it")
        height = int(kind == "folder") if moved is None else self._height(moved)
        if len(path) + height > DEEPEST:
            raise InvalidRequest(f"parent_id: folders may lie in one another {DEEPEST} deep")

    def require_room(self) -> None:
        """Lets one more folder be made.  Raises Conflict."""
        if sum(node.kind == "folder" for node in self._by_id.values()) >= MOST_FOLDERS:
            raise Conflict(f"A bank may have at most {MOST_FOLDERS} folders")

    def _path(self, node: KnowledgeNode) -> list[KnowledgeNode]:
        """The node and the folders that it lies in, the inmost first."""
        path = [node]
        while (parent_id := path[-1].parent_id) is not None:
            path.append(self._by_id[parent_id])
        return path

    def _height(self, node: KnowledgeNode) -> int:
        """How many folders lie in one another from this one down; 0 for a page."""
        if node.kind == "page":
            return 0
        return 1 + max((self._height(child) for child in self._within[node.id]), default=0)


def tree_in_sight(tx: Transaction, principal: Principal, bank_id: BankId) -> Tree:
    """The bank's tree as the caller sees it: pages whose mental models are in sight, and the folders that hold them.

    And folders that the caller may know by their names alone.
    """
    nodes = tx.knowledge.nodes(bank_id)
    if not is_limited(principal):
        return Tree(nodes, {node.id for node in nodes})
    pages: frozenset[UUID] = tx.knowledge.seen(bank_id, page_sight(principal))
    in_sight = {node.id for node in nodes if node.page_id in pages or knows_name(principal, node)}
    return Tree(nodes, in_sight)


def knows_name(principal: Principal, node: KnowledgeNode) -> bool:
    """Whether the node is a folder that the caller may see and change whatever is in it."""
    return node.named_by is not None and sees_folder(principal, node.named_by.reader(principal.tenant_id))


def node_not_found(node_id: str) -> NotFound:
    """The error for a node that is not there, or not there for this caller."""
    return NotFound(f"Knowledge node '{node_id}' not found")
