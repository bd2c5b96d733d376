"""Folders and pages of the knowledge base on the wire.  Used by the routes that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.access import reads
from hindsight_aws.api.answers import instant
from hindsight_aws.knowledge.markdown import written_at
from hindsight_aws.knowledge.tree import Tree
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.trigger import trigger_to_json
from hindsight_aws.ports.mental_models import ModelView


def shown_tree(principal: Principal, tree: Tree, views: Mapping[str, ModelView]) -> list[dict[str, object]]:
    """The tree from its root; of pages those alone that have a view here."""
    return _within(principal, tree, views, None)


def shown_node(
    principal: Principal,
    node: KnowledgeNode,
    view: ModelView | None,
    children: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """One node; to a key that may not read, nothing of what a page is written from."""
    shown: dict[str, object] = {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "parent_id": node.parent_id,
        "mental_model_id": None,
        "managed": False,
        "description": None,
        "tags": [],
        "timestamp": instant(node.named_at),
        "is_stale": None,
        "last_refresh_failed_at": None,
        "trigger": None,
        "children": list(children),
    }
    if view is None:
        return shown
    model, is_told = view.model, reads(principal)
    return {
        **shown,
        "mental_model_id": model.id,
        "description": model.source_query if is_told else None,
        "tags": list(model.tags),
        "timestamp": instant(written_at(view)),
        "is_stale": view.staleness is not None,
        "last_refresh_failed_at": instant(model.last_refresh_failed_at),
        "trigger": trigger_to_json(model.trigger) if is_told else None,
    }


def _within(
    principal: Principal, tree: Tree, views: Mapping[str, ModelView], folder_id: str | None
) -> list[dict[str, object]]:
    shown = []
    for node in tree.within(folder_id):
        if node.kind == "folder":
            shown.append(shown_node(principal, node, None, _within(principal, tree, views, node.id)))
        elif node.id in views:
            shown.append(shown_node(principal, node, views[node.id]))
    return shown
