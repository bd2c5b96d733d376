"""Entities: what a bank's memories are about, and which of them stand together."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.access import Sight, is_limited, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.errors import detail
from hindsight_aws.api.query import Limit, Mode, Offset, Tags, tag_filter, uuid_of
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.entities import EntityPair, EntityView

router = APIRouter(prefix="/v1/default/banks/{bank_id}/entities", route_class=ReportingRoute)

LeastWeight = Annotated[int, Query(ge=-(2**31), le=2**31 - 1)]

_FEW: Final = "#90caf9"
_SEVERAL: Final = "#42a5f5"
_TOGETHER: Final = "#ffd700"
_SEVERAL_FROM: Final = 2


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


@router.get("/graph")
async def get_entity_graph(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    limit: Limit = 1000,
    min_count: LeastWeight = 1,
    tags: Tags = None,
    tags_match: Mode = "any",
    tag_groups: str | None = None,
) -> Response:
    """Entities that memories in the caller's sight mention together, the heaviest pairs first."""
    with call.bank(bank_id, Permission.READ) as seen:
        within = sight(seen.principal, tags=tag_filter(tags, tags_match, tag_groups))
        graph = seen.tx.entities.graph(seen.bank.bank_id, within, limit, min_count)
    return json_answer(
        {
            "nodes": [{"data": _node(entity)} for entity in graph.nodes],
            "edges": [{"data": _edge(pair)} for pair in graph.edges],
            "total_entities": graph.total_nodes,
            "total_edges": graph.total_edges,
            "limit": limit,
        }
    )


@router.get("/{entity_id}")
async def get_entity(
    call: CallDep,
    bank_id: str,
    entity_id: str,
    tags: Tags = None,
    tags_match: Mode = "any",
    tag_groups: str | None = None,
) -> Response:
    """One entity, if a memory in the caller's sight mentions it.

    To a caller who sees all of the bank, `metadata.spellings` names what else it is known by.
    """
    wanted = uuid_of(entity_id, "entity_id")
    asked = tag_filter(tags, tags_match, tag_groups)
    absent = NotFound(f"Entity {entity_id} not found")
    with call.bank(bank_id, Permission.READ, absent) as seen:
        entity = seen.tx.entities.view(seen.bank.bank_id, _within(seen.principal, asked), wanted)
        if entity is None:
            raise absent
    return json_answer(_shown(entity) | {"observations": []})


@router.post("/{entity_id}/regenerate", deprecated=True)
async def regenerate_entity_observations(call: CallDep) -> Response:
    """Nothing: entities no longer have observations of their own; whoever may write is told so."""
    call.principal(Permission.WRITE)
    return detail("Entities have no observations of their own any more: recall or reflect tells about one", 410)


def _within(principal: Principal, tags: TagFilter) -> Sight | None:
    return sight(principal, tags=tags) if tags or is_limited(principal) else None


def _shown(entity: EntityView) -> dict[str, object]:
    return {
        "id": entity.id,
        "canonical_name": entity.name,
        "mention_count": entity.mentions,
        "first_seen": entity.first_seen,
        "last_seen": entity.last_seen,
        "metadata": {"spellings": entity.spellings} if entity.spellings else {},
    }


def _node(entity: EntityView) -> dict[str, object]:
    return {
        "id": entity.id,
        "label": entity.name,
        "mentionCount": entity.mentions,
        "color": _SEVERAL if entity.mentions >= _SEVERAL_FROM else _FEW,
    }


def _edge(pair: EntityPair) -> dict[str, object]:
    return {
        "id": f"{pair.one}-{pair.other}",
        "source": pair.one,
        "target": pair.other,
        "linkType": "cooccurrence",
        "weight": pair.weight,
        "color": _TOGETHER,
        "lineStyle": "solid",
        "lastCooccurred": pair.last,
    }
