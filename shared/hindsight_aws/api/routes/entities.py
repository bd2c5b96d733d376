"""Entities: what a bank's memories are about."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import Sight, is_limited, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Mode, Offset, Tags, tag_filter, uuid_of
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.entities import EntityView

router = APIRouter(prefix="/v1/default/banks/{bank_id}/entities", route_class=ReportingRoute)


@router.get("")
async def list_entities(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    limit: Limit = 100,
    offset: Offset = 0,
    tags: Tags = None,
    tags_match: Mode = "any",
    tag_groups: str | None = None,
) -> Response:
    """Entities that memories in the caller's sight mention, most mentioned first."""
    with call.bank(bank_id, Permission.READ) as seen:
        within = _within(seen.principal, tag_filter(tags, tags_match, tag_groups))
        found = seen.tx.entities.page(seen.bank.bank_id, within, limit, offset)
    items = [_shown(entity) for entity in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/{entity_id}")
async def get_entity(
    call: CallDep,
    bank_id: str,
    entity_id: str,
    tags: Tags = None,
    tags_match: Mode = "any",
    tag_groups: str | None = None,
) -> Response:
    """One entity, if a memory in the caller's sight mentions it."""
    wanted = uuid_of(entity_id, "entity_id")
    asked = tag_filter(tags, tags_match, tag_groups)
    absent = NotFound(f"Entity {entity_id} not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        entity = seen.tx.entities.view(seen.bank.bank_id, _within(seen.principal, asked), wanted)
        if entity is None:
            raise absent
    return json_answer(_shown(entity) | {"observations": []})


def _within(principal: Principal, tags: TagFilter) -> Sight | None:
    return sight(principal, tags=tags) if tags or is_limited(principal) else None


def _shown(entity: EntityView) -> dict[str, object]:
    return {
        "id": entity.id,
        "canonical_name": entity.name,
        "mention_count": entity.mentions,
        "first_seen": entity.first_seen,
        "last_seen": entity.last_seen,
        "metadata": {},
    }
