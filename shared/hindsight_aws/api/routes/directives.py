"""Directives: a bank's standing rules for its answers; list, look at, create, change and delete them."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import reads, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Offset, PageSize, Tags, tag_filter, uuid_of
from hindsight_aws.api.schemas.directives import CreateDirectiveRequest, UpdateDirectiveRequest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.directives import manage
from hindsight_aws.directives.manage import directive_not_found
from hindsight_aws.model.directive import Directive, selection
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.tags import TagFilter

router = APIRouter(prefix="/v1/default/banks/{bank_id}/directives", route_class=ReportingRoute)


@router.get("")
async def list_directives(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    tags: Tags = None,
    tags_match: Literal["any", "all", "exact"] = "any",
    active_only: bool = True,
    limit: PageSize = 100,
    offset: Offset = 0,
) -> Response:
    """Directives in the caller's sight, most important first; a filter by tags never leaves the untagged out."""
    with call.bank(bank_id, Permission.READ) as seen:
        wanted = selection(tag_filter(tags, tags_match) if tags else TagFilter(), apply_all=not tags)
        for group in sight(seen.principal).tags.groups:
            wanted = wanted.narrowed(group)
        found = seen.tx.directives.page(seen.bank.bank_id, wanted, only_active=active_only, limit=limit, offset=offset)
    items = [_shown(directive, seen.bank.external_id) for directive in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.post("")
async def create_directive(call: CallDep, bank_id: str, body: CreateDirectiveRequest) -> Response:
    """Gives the bank a new directive."""
    principal = call.principal(Permission.WRITE)
    made = manage.create(call.services.store, principal, bank_id, body.as_text())
    return json_answer(_shown(made, bank_id))


@router.get("/{directive_id}")
async def get_directive(call: CallDep, bank_id: str, directive_id: str) -> Response:
    """One directive."""
    wanted = uuid_of(directive_id, "directive_id")
    absent = directive_not_found(directive_id)
    with call.bank(bank_id, Permission.READ, absent) as seen:
        found = seen.tx.directives.view(seen.bank.bank_id, sight(seen.principal).tags, wanted)
        if found is None:
            raise absent
    return json_answer(_shown(found, seen.bank.external_id))


@router.patch("/{directive_id}")
async def update_directive(call: CallDep, bank_id: str, directive_id: str, body: UpdateDirectiveRequest) -> Response:
    """Changes a directive; null leaves a thing as it is.  Who may not read is answered without its content."""
    principal = call.principal(Permission.WRITE)
    wanted = uuid_of(directive_id, "directive_id")
    changed = manage.update(call.services.store, principal, bank_id, wanted, body.as_change())
    shown = _shown(changed, bank_id)
    return json_answer(shown if reads(principal) else {**shown, "content": ""})


@router.delete("/{directive_id}")
async def delete_directive(call: CallDep, bank_id: str, directive_id: str) -> Response:
    """Removes a directive."""
    principal = call.principal(Permission.WRITE)
    manage.delete(call.services.store, principal, bank_id, uuid_of(directive_id, "directive_id"))
    return json_answer({"status": "deleted"})


def _shown(directive: Directive, bank: str) -> dict[str, object]:
    return {
        "id": directive.id,
        "bank_id": bank,
        "name": directive.name,
        "content": directive.content,
        "priority": directive.priority,
        "is_active": directive.is_active,
        "tags": list(directive.tags),
        "created_at": directive.created_at,
        "updated_at": directive.updated_at,
    }
