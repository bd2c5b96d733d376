"""Reflect: a question in, an answer in words out; a long run is carried by the client's own retries."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.errors import LONGEST_WAIT_S, status_named
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.schemas.reflect import ReflectBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect import runs
from hindsight_aws.settings import Settings

router = APIRouter(route_class=ReportingRoute)

_FUNCTION_URL_ROUTE = "$default"
_AT_WORK = "The answer is still being worked on: send the same request again, or ask for the operation."
_FORGOTTEN = "Memory was changed before the answer could be given: send the same request again."
_LIMIT_REACHED = "A daily limit of the tenant was reached before there was an answer: model work goes on the next day."
_OUT_OF_TIME = frozenset({"ReflectTimeout", "States.Timeout", "Sandbox.Timedout"})
"""What the loop and the workflow call an end that is no error of the tree."""


@router.post("/v1/default/banks/{bank_id}/reflect")
async def reflect(call: CallDep, request: Request, bank_id: str, body: ReflectBody) -> Response:
    """The answer; 503 with the operation's id while it is worked on, 202 where the caller prefers to ask later."""
    asked = body.as_request()
    principal = call.principal(Permission.READ)
    door, settings = call.services.reflect_door, call.services.settings
    furnish(call, principal, bank_id)
    run = runs.submit(door, principal, bank_id, asked)
    if _prefers_async(request):
        begun: dict[str, object] = {"operation_id": str(run.run_id), "status": run.status}
        return _with(begun, 202, {"Preference-Applied": "respond-async"})
    run = runs.wait(door, principal, run, patience(request, settings))
    return told(run, settings)


def told(run: Run, settings: Settings) -> Response:
    """The end of a run, or that it goes on, as an answer.

    A failed run has the status of its error where coming again later may help: 429, 503 or 504.  Any other is 500, of a
    model that gave nothing usable too: so clients know a reflect without an answer.
    """
    wait = {"Retry-After": str(settings.hindsight_reflect_retry_after_seconds)}
    if run.status == "completed" and run.answer is not None:
        return json_answer(run.answer)
    body: dict[str, object] = {"operation_id": str(run.run_id), "status": run.status}
    if run.status == "running":
        return _with({"detail": _AT_WORK, **body}, 503, wait)
    if run.status == "completed":
        return _with({"detail": _FORGOTTEN, **body}, 503, wait)
    if run.status == "cancelled":
        return _with({"detail": "The run was cancelled.", **body}, 409, {})
    status = _status_of_failed(run.error or "")
    if status == 429:
        return _with({"detail": _LIMIT_REACHED, **body}, status, {"Retry-After": str(LONGEST_WAIT_S)})
    body = {"detail": f"Reflect failed: {run.error_message} ({run.error})", **body, "error": run.error}
    return _with(body, status, wait if status == 503 else {})


def _status_of_failed(error_name: str) -> int:
    if error_name in _OUT_OF_TIME:
        return 504
    status = status_named(error_name)
    return status if status in (429, 503, 504) else 500


def _with(body: dict[str, object], status: int, headers: dict[str, str]) -> Response:
    answer = json_answer(body, status)
    answer.headers.update(headers)
    return answer


def _prefers_async(request: Request) -> bool:
    preferences = ",".join(request.headers.getlist("prefer")).split(",")
    return any(preference.split(";")[0].strip().lower() == "respond-async" for preference in preferences)


def patience(request: Request, settings: Settings) -> float:
    """How long this caller can be kept waiting: the HTTP API hangs up after 30 s, a Function URL does not."""
    event = request.scope.get("aws.event") or {}
    if event.get("routeKey") == _FUNCTION_URL_ROUTE:
        return settings.hindsight_reflect_url_wait_seconds
    return settings.hindsight_reflect_wait_seconds
