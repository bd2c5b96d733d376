"""Makes, changes and deletes folders and pages of the knowledge base.  Called by the API; each is one transaction.

A page is a mental model with a place: what is said of its text is said to mental_models/manage.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final
from uuid import uuid4

from hindsight_aws.access import require, require_bank, require_folder, sees_bank
from hindsight_aws.configuration.config import resolve
from hindsight_aws.errors import AccessDenied, InvalidRequest
from hindsight_aws.knowledge.read import look_up
from hindsight_aws.knowledge.tree import Tree, node_not_found, tree_in_sight
from hindsight_aws.mental_models.manage import (
    ModelChanges,
    ModelRequest,
    QueuedRefresh,
    ask,
    change,
    name_taken,
    new_model,
    require_model,
    require_room,
)
from hindsight_aws.mental_models.manage import delete as delete_models
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.trigger import Creator, Trigger, checked_changes, patched, trigger_to_json
from hindsight_aws.ports.mental_models import ModelView
from hindsight_aws.ports.store import Transaction

PAGE_TOKENS: Final = 4096
PAGE_TRIGGER: Final = Trigger(
    mode="delta", refresh_after_consolidation=True, fact_types=("observation",), exclude_mental_models=True
)


class Place(Enum):
    """Where a node is to be, if not in a folder that is named."""

    AS_IT_IS = "as it is"
    ROOT = "root"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to be made; `trigger` holds the fields that were sent, of which one that is null says nothing."""

    name: str
    source_query: str
    parent_id: str | None
    tags: list[str]
    max_tokens: int | None
    trigger: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NodeChanges:
    """What is to change of a node: its place, its name, and of a page its mental model."""

    place: str | Place
    model: ModelChanges

    @property
    def says_of_page(self) -> bool:
        """Whether it says something that a folder has not."""
        return any(
            value is not None
            for value in (self.model.source_query, self.model.tags, self.model.max_tokens, self.model.trigger)
        )

    @property
    def says_nothing(self) -> bool:
        """Whether nothing is to change."""
        return self.place is Place.AS_IT_IS and self.model.name is None and not self.says_of_page


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page that was made, with the refresh that writes its first text."""

    node_id: str
    asking: QueuedRefresh


@dataclass(frozen=True, slots=True)
class Changed:
    """A node that was changed, of a page its mental model, and the refresh that its new question asks for."""

    bank_id: BankId
    node: KnowledgeNode
    view: ModelView | None = None
    operation_id: OperationId | None = None


def create_folder(door: PagesDoor, principal: Principal, bank: str, name: str, parent_id: str | None) -> KnowledgeNode:
    """Writes an empty folder; an unknown bank is made.

    Raises: AccessDenied; NotFound for a bank the key does not cover; InvalidRequest for a parent that is no folder in
    sight, and for folders too deep; Conflict for one folder too many.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    with door.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        tree = _held_tree(tx, principal, found.bank_id)
        tree.require_place(parent_id, "folder")
        tree.require_room()
        folder = KnowledgeNode(
            f"kf-{uuid4().hex}", "folder", name, parent_id, None, Creator.of(principal), door.clock.now()
        )
        if not tx.knowledge.add(found.bank_id, folder):
            raise AssertionError("a folder's name is never taken")
    return folder


def create_page(door: PagesDoor, principal: Principal, bank: str, request: PageRequest) -> NewPage:
    """Writes a page without text, its mental model, and its first refresh; an unknown bank is made.

    Guarantees: all of it or nothing.

    Raises: as `create_folder`; InvalidField; Conflict for a name that a page of the folder has, and for one mental
    model too many.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    require_model(door)
    with door.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        default = resolve(door.settings, found.overrides).knowledge_page_default_trigger
        trigger = trigger_to_json(page_trigger(default or {}, request.trigger))
        tokens = PAGE_TOKENS if request.max_tokens is None else request.max_tokens
        new = new_model(
            door, principal, ModelRequest(None, request.name, request.source_query, request.tags, tokens, trigger)
        )
        _held_tree(tx, principal, found.bank_id).require_place(request.parent_id, "page")
        require_room(tx, found.bank_id, 1)
        page = KnowledgeNode(
            f"kp-{uuid4().hex}", "page", request.name, request.parent_id, new.page_id, None, door.clock.now()
        )
        tx.mental_models.add(found.bank_id, new)
        if not tx.knowledge.add(found.bank_id, page):
            raise name_taken(request.name)
        model = tx.mental_models.find(found.bank_id, new.page_id)
        if model is None:
            raise AssertionError("a model that was just written is not there")
        return NewPage(page.id, ask(door, tx, found, principal, model, full=False))


def page_trigger(default: Mapping[str, object], sent: Mapping[str, object]) -> Trigger:
    """What is sent laid over the bank's default, and both over the trigger that pages have; a null says nothing.

    Raises: InvalidField.
    """
    trigger = PAGE_TRIGGER
    for said in (default, sent):
        trigger = patched(trigger, checked_changes({name: value for name, value in said.items() if value is not None}))
    return trigger


def change_node(door: PagesDoor, principal: Principal, bank: str, node_id: str, changes: NodeChanges) -> Changed:
    """Renames and moves a node, and changes what a page is written from; a new question asks for a refresh.

    Guarantees: all of it or nothing; a page's mental model has its name.

    Raises: AccessDenied; NotFound; InvalidField; InvalidRequest for no change at all, for what a folder has not, and
    for a place as `create_folder`; Conflict for a name that is taken.
    """
    require(principal, Permission.WRITE)
    if changes.says_nothing:
        raise InvalidRequest("Nothing is to change: send name, parent_id, or what a page is written from")
    with door.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank) if sees_bank(principal, bank) else None
        if found is None:
            raise node_not_found(node_id)
        tree = _held_tree(tx, principal, found.bank_id)
        node = tree.find(node_id)
        after = _placed(tree, node, changes)
        if node.page_id is None:
            shown = _change_folder(tx, principal, found.bank_id, replace(after, named_at=door.clock.now()), changes)
            return Changed(found.bank_id, shown)
        operation_id = _change_page(door, tx, principal, found, replace(after, named_at=door.clock.now()), changes)
        return Changed(found.bank_id, *look_up(tx, principal, found.bank_id, node_id), operation_id)


def delete_node(tx: Transaction, principal: Principal, bank_id: BankId, node_id: str) -> None:
    """Removes the node, all that lies in it, and the mental models of its pages.

    Raises: NotFound; AccessDenied for a folder that the caller may not change, and for one that holds what it does not
    see.
    """
    tree = _held_tree(tx, principal, bank_id)
    below = tree.below(tree.find(node_id))
    if any(node.id not in tree.visible for node in below):
        raise AccessDenied("This key may not delete a folder that holds what it does not see")
    for node in below:
        _require_name(principal, node)
    pages = [node.page_id for node in below if node.page_id is not None]
    if pages:
        delete_models(tx, bank_id, *pages)
    tx.knowledge.remove_folders(bank_id, [node.id for node in below if node.kind == "folder"])


def _held_tree(tx: Transaction, principal: Principal, bank_id: BankId) -> Tree:
    tx.knowledge.lock_tree(bank_id)
    return tree_in_sight(tx, principal, bank_id)


def _placed(tree: Tree, node: KnowledgeNode, changes: NodeChanges) -> KnowledgeNode:
    """The node with its new name and place."""
    after = node if changes.model.name is None else replace(node, name=changes.model.name)
    if changes.place is Place.AS_IT_IS:
        return after
    parent_id = None if isinstance(changes.place, Place) else changes.place
    tree.require_place(parent_id, node.kind, node)
    return replace(after, parent_id=parent_id)


def _change_folder(
    tx: Transaction, principal: Principal, bank_id: BankId, after: KnowledgeNode, changes: NodeChanges
) -> KnowledgeNode:
    if changes.says_of_page:
        raise InvalidRequest("A folder has no source_query, tags, max_tokens or trigger")
    _require_name(principal, after)
    named = after if changes.model.name is None else replace(after, named_by=Creator.of(principal))
    if not tx.knowledge.change(bank_id, named):
        raise AssertionError("a folder's name is never taken")
    return named


def _change_page(
    door: PagesDoor, tx: Transaction, principal: Principal, bank: Bank, after: KnowledgeNode, changes: NodeChanges
) -> OperationId | None:
    """Changes the page and its mental model, locked after the refreshes of the model and before the page."""
    if after.page_id is None:
        raise AssertionError("a folder is no page")
    tx.refreshes.open(bank.bank_id, after.page_id)
    locked = tx.mental_models.lock(bank.bank_id, after.page_id)
    if locked is None:
        raise node_not_found(after.id)
    if not tx.knowledge.change(bank.bank_id, after):
        raise name_taken(after.name)
    change(tx, principal, bank.bank_id, locked, changes.model, door.clock.now())
    if changes.model.source_query is None or changes.model.source_query == locked.source_query:
        return None
    require_model(door)
    return _asked_anew(door, tx, bank, principal, locked)


def _asked_anew(door: PagesDoor, tx: Transaction, bank: Bank, principal: Principal, held: MentalModel) -> OperationId:
    model = tx.mental_models.find(bank.bank_id, held.page_id)
    if model is None:
        raise AssertionError("a model that is held is there")
    return ask(door, tx, bank, principal, model, full=False).operation_id


def _require_name(principal: Principal, node: KnowledgeNode) -> None:
    if node.named_by is not None:
        require_folder(principal, node.named_by.reader(principal.tenant_id))
