"""Consolidation asked for by hand, and what a draft of its strategies would do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.access import sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.query import Limit, Offset, uuid_of
from hindsight_aws.api.schemas.consolidation import (
    ConsolidationRequest,
    RebuildRequest,
    RevertRequest,
    StrategiesPreviewRequest,
)
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.consolidate.estimate import Numbers
from hindsight_aws.consolidate.preview import CountedScope, drafts, preview, scopes_read
from hindsight_aws.consolidate.rebuild import Rebuilding, rebuild
from hindsight_aws.consolidate.submit import recover, submit
from hindsight_aws.consolidate.undo import revert
from hindsight_aws.errors import AccessDenied, InvalidRequest
from hindsight_aws.model.ids import RunId
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.compaction import Suggestion
from hindsight_aws.ports.runs import RunQuery, RunView

router = APIRouter(prefix="/v1/default/banks/{bank_id}", route_class=ReportingRoute)
_MOST_SHOWN: Final = 1_000
_STATUSES: Final = ("applied", "discarded", "failed")


@router.post("/consolidate")
async def trigger_consolidation(call: CallDep, bank_id: str, body: ConsolidationRequest | None = None) -> Response:
    """Consolidates what is pending now, whether or not that happens by itself in this bank.

    A list of scopes narrows it down to work whose scope, or whose fact's own tags, hold all tags of one of them.  No
    body, null, an empty list and a list that holds an empty one ask for the whole bank.
    """
    principal = call.principal(Permission.WRITE)
    scopes = body.observation_scopes if body is not None else None
    made = submit(call.services.consolidation_ports, principal, bank_id, scopes)
    return json_answer({"operation_id": made.operation_id, "deduplicated": made.deduplicated})


@router.post("/consolidation/recover")
async def recover_consolidation(call: CallDep, bank_id: str, body: ConsolidationRequest | None = None) -> Response:
    """Makes failed facts pending again, of the scopes named or of the whole bank; starts nothing."""
    principal = call.principal(Permission.WRITE)
    scopes = body.observation_scopes if body is not None else None
    return json_answer({"retried_count": recover(call.services.consolidation_ports, principal, bank_id, scopes)})


@router.post("/consolidation-strategies/preview")
async def preview_consolidation_strategies(call: CallDep, bank_id: str, body: StrategiesPreviewRequest) -> Response:
    """Which of the scopes in the caller's sight these strategies would claim; saves nothing."""
    with call.bank(bank_id, Permission.READ) as seen:
        strategies = drafts(body.strategies)
        at_most = scopes_read(strategies)
        in_sight = sight(seen.principal)
        found = seen.tx.scopes.page(seen.bank.bank_id, in_sight, with_pending=False, limit=at_most, offset=0)
    scopes = [CountedScope(scope.tags, scope.observations) for scope in found.items]
    return json_answer(preview(strategies, scopes, body.sample_limit, complete=found.total <= len(scopes)))


@router.post("/consolidation/rebuild")
async def rebuild_observations(call: CallDep, bank_id: str, body: RebuildRequest | None = None) -> Response:
    """Makes observations anew from their facts; what is there is read until the new generation is whole."""
    principal = call.principal(Permission.ADMIN)
    asked = body or RebuildRequest()
    done = rebuild(call.services.consolidation_ports, principal, bank_id, asked.scopes, dry_run=asked.dry_run)
    return json_answer(_rebuilding(done) | {"dry_run": asked.dry_run})


@router.get("/consolidation/runs")
async def list_consolidation_runs(
    call: CallDep,
    bank_id: str,
    scope: Annotated[list[str] | None, Query()] = None,
    status: str | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """What consolidation did, call by call, newest first; `scope` names the tags of one exact scope."""
    if status is not None and status not in _STATUSES:
        raise InvalidRequest(f"Invalid status {status[:60]!r}: expected one of {', '.join(_STATUSES)}")
    with call.bank(bank_id, Permission.READ) as seen:
        in_sight = sight(seen.principal)
        if not in_sight.sees_beneath:
            raise AccessDenied("This key may not see what wrote an observation")
        tags = None if scope is None else Scope.of(tag for tag in scope if tag).tags
        found = seen.tx.runs.page(seen.bank.bank_id, in_sight, RunQuery(tags, status, limit, offset))
    items = [_run(run) for run in found.items]
    return json_answer({"runs": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/consolidation/suggestions")
async def list_consolidation_suggestions(
    call: CallDep, bank_id: str, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """Pairs of observations of one scope that are nearly the same, nearest first; found from time to time."""
    with call.bank(bank_id, Permission.READ) as seen:
        found = seen.tx.compactions.page(seen.bank.bank_id, sight(seen.principal), limit, offset)
    items = [_suggestion(suggestion) for suggestion in found.items]
    return json_answer({"suggestions": items, "total": found.total, "limit": limit, "offset": offset})


@router.post("/consolidation/runs/{run_id}/revert")
async def revert_consolidation_run(
    call: CallDep, bank_id: str, run_id: str, body: RevertRequest | None = None
) -> Response:
    """Restores a scope as it was before a run, where nothing later builds on it."""
    principal = call.principal(Permission.ADMIN)
    wanted = RunId(uuid_of(run_id, "run_id"))
    retry = body is not None and body.retry
    done = revert(call.services.consolidation_ports, principal, bank_id, wanted, retry=retry)
    return json_answer(
        {
            "run_id": wanted,
            "observations_removed": done.removed,
            "observations_restored": done.restored,
            "facts_reopened": done.reopened,
            "retry": retry,
        }
    )


def _suggestion(suggestion: Suggestion) -> dict[str, object]:
    pair = suggestion.pair
    return {
        "tags": list(suggestion.tags),
        "similarity": round(pair.similarity, 4),
        "observations": [
            {"id": one.observation_id, "text": one.text, "proof_count": one.proof_count}
            for one in (pair.first, pair.second)
        ],
        "found_at": suggestion.found_at,
    }


def _rebuilding(done: Rebuilding) -> dict[str, object]:
    scopes = done.estimate.scopes
    return {
        "operation_id": done.operation_id,
        "scopes_total": len(scopes),
        "estimate": _numbers(done.estimate.total),
        "scopes": [
            {
                "tags": list(scope.tags),
                "strategy_name": scope.strategy_name,
                "is_outdated": scope.is_outdated,
                **_numbers(scope.numbers),
            }
            for scope in scopes[:_MOST_SHOWN]
        ],
        "already_rebuilding": [list(tags) for tags in done.already[:_MOST_SHOWN]],
        "unknown_scopes": [list(tags) for tags in done.unknown],
    }


def _numbers(numbers: Numbers) -> dict[str, object]:
    return asdict(numbers) | {"usd": None if numbers.usd is None else float(numbers.usd)}


def _run(run: RunView) -> dict[str, object]:
    return {**asdict(run), "tags": list(run.tags)}
