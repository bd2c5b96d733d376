"""The knowledge base: folders and pages, to look at, search and export, to add folders to and to delete from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.api.answers import instant, json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.nodes import shown_node, shown_tree
from hindsight_aws.api.query import Mode, Tags, tag_filter
from hindsight_aws.api.schemas.knowledge import CreateFolderBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.knowledge import manage
from hindsight_aws.knowledge.markdown import body_of, page_markdown, page_type, written_at
from hindsight_aws.knowledge.read import export, look, look_up
from hindsight_aws.knowledge.search import MOST_FOUND, search
from hindsight_aws.knowledge.tree import node_not_found
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.tags import TagFilter

router = APIRouter(prefix="/v1/default/banks/{bank_id}/knowledge-base", route_class=ReportingRoute)

_Question = Annotated[str, Query(min_length=1)]
_Most = Annotated[int, Query(ge=1, le=MOST_FOUND)]


@router.get("/tree")
async def get_knowledge_base_tree(
    call: CallDep, bank_id: str, tags: Tags = None, tags_match: Mode = "any", tag_groups: str | None = None
) -> Response:
    """Folders and pages in the caller's sight; a filter asks for pages by their tags, and leaves folders alone."""
    wanted = _filter(tags, tags_match, tag_groups)
    with call.bank(bank_id, Permission.READ) as seen:
        base = look(seen.tx, seen.principal, seen.bank.bank_id, wanted)
    return json_answer({"roots": shown_tree(seen.principal, base.tree, base.views)})


@router.post("/folders")
async def create_knowledge_folder(call: CallDep, bank_id: str, body: CreateFolderBody) -> Response:
    """Makes an empty folder; an unknown bank is made."""
    principal = call.principal(Permission.WRITE)
    furnish(call, principal, bank_id)
    made = manage.create_folder(call.services.pages_door, principal, bank_id, body.name, body.parent_id or None)
    return json_answer(shown_node(principal, made, None), 201)


@router.get("/pages/{page_id}")
async def get_knowledge_page(call: CallDep, bank_id: str, page_id: str) -> Response:
    """One page, plain and as Markdown with front matter."""
    with call.bank(bank_id, Permission.READ, node_not_found(page_id)) as seen:
        node, view = look_up(seen.tx, seen.principal, seen.bank.bank_id, page_id)
    return json_answer(
        {
            "id": node.id,
            "name": node.name,
            "type": page_type(view.model.tags),
            "description": view.model.source_query,
            "tags": list(view.model.tags),
            "timestamp": instant(written_at(view)),
            "body": body_of(view),
            "markdown": page_markdown(node, view),
        }
    )


@router.get("/search")
async def search_knowledge_base(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    q: _Question,
    limit: _Most = 10,
    tags: Tags = None,
    tags_match: Mode = "any",
    tag_groups: str | None = None,
) -> Response:
    """Pages that hold the words, or mean the like, best first."""
    wanted = _filter(tags, tags_match, tag_groups)
    principal = call.principal(Permission.READ)
    found, total = search(call.services.search_ports, principal, bank_id, q, wanted, limit)
    results = [
        {
            "id": one.node_id,
            "name": one.name,
            "mental_model_id": one.model_id,
            "source_query": one.source_query,
            "snippet": one.snippet,
            "score": one.score,
            "updated_at": instant(one.written_at),
        }
        for one in found
    ]
    return json_answer({"results": results, "total": total})


@router.get("/export")
async def export_knowledge_base(call: CallDep, bank_id: str) -> Response:
    """All pages in sight as Markdown files, each with the log of its former texts, and an index."""
    versions = call.services.settings.hindsight_api_mental_model_history_max_entries
    with call.bank(bank_id, Permission.READ) as seen:
        files = export(seen.tx, seen.principal, seen.bank.bank_id, versions)
    return json_answer({"files": [{"path": path, "content": text} for path, text in files.items()]})


@router.delete("/nodes/{node_id}")
async def delete_knowledge_node(call: CallDep, bank_id: str, node_id: str) -> Response:
    """Deletes a page with its mental model, or a folder with all that is in it."""
    with call.bank(bank_id, Permission.WRITE, node_not_found(node_id)) as seen:
        manage.delete_node(seen.tx, seen.principal, seen.bank.bank_id, node_id)
    return json_answer({"status": "deleted"})


def _filter(tags: list[str] | None, mode: Mode, tag_groups: str | None) -> TagFilter:
    """Tags and groups together: here a page must pass both."""
    flat, grouped = tag_filter(tags, mode), tag_filter(None, "any", tag_groups)
    return TagFilter((*flat.groups, *grouped.groups))
