"""Scopes: the exact tag sets that observations are drawn for, and the strategy each falls under."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.access import sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Offset
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.policy import policies_of
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.scopes import ScopeView

router = APIRouter(prefix="/v1/default/banks/{bank_id}/observations/scopes", route_class=ReportingRoute)
ScopesLimit = Annotated[int, Query(ge=0, le=1000)]


@router.get("")
async def list_observation_scopes(
    call: CallDep, bank_id: str, limit: ScopesLimit = 100, offset: Offset = 0, include_pending: bool = False
) -> Response:
    """Distinct exact tag sets of observations with their counts, and which strategy each falls under.

    `include_pending` adds scopes that have work and no observation yet, and counts them in `total`.
    """
    with call.bank(bank_id, Permission.READ) as seen:
        config = resolve(call.services.settings, seen.bank.overrides)
        found = seen.tx.scopes.page(
            seen.bank.bank_id, sight(seen.principal), with_pending=include_pending, limit=limit, offset=offset
        )
    policies = policies_of(config)
    items = [_shown(scope, policies(scope.tags)) for scope in found.items]
    return json_answer({"scopes": items, "total": found.total, "limit": limit, "offset": offset})


def _shown(scope: ScopeView, policy: Policy) -> dict[str, object]:
    return {
        "tags": list(scope.tags),
        "count": scope.observations,
        "strategy_index": policy.strategy_index,
        "strategy_name": policy.strategy_name,
        "pending_count": scope.pending,
        "failed_count": scope.failed,
        "policy_hash": policy.hash,
        "is_outdated": scope.observations > 0 and scope.brief_hash not in (None, policy.brief_hash),
        "is_rebuilding": scope.is_rebuilding,
    }
