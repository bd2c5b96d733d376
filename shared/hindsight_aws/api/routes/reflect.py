"""Reflect: a question in, an answer in words out; a long run is carried by the client's own retries."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.reflect import ReflectBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect import runs
from hindsight_aws.settings import Settings

router = APIRouter(route_class=ReportingRoute)

_FUNCTION_URL_ROUTE = "$default"
_PASSING = frozenset({"ModelThrottled", "ModelUnavailable", "DatabaseUnavailable"})
_OUT_OF_TIME = frozenset({"ReflectTimeout", "States.Timeout", "Sandbox.Timedout"})


@router.post("/v1/default/banks/{bank_id}/reflect")
async def reflect(call: CallDep, request: Request, bank_id: str, body: ReflectBody) -> Response:
    """The answer; 503 with the operation's id while it is worked on, 202 where the caller prefers to ask later."""
    asked = body.as_request()
    principal = call.principal(Permission.READ)
    door, settings = call.services.reflect_door, call.services.settings
    run = runs.submit(door, principal, bank_id, asked)
    if _prefers_async(request):
        return json_answer({"operation_id": str(run.run_id), "status": run.status}, 202)
    run = runs.wait(door, principal, run, _patience(request, settings))
    return _told(run, settings)


def _told(run: Run, settings: Settings) -> Response:
    wait = {"Retry-After": str(settings.hindsight_reflect_retry_after_seconds)}
    if run.status == "completed":
        return json_answer(run.answer or {})
    body: dict[str, object] = {"operation_id": str(run.run_id), "status": run.status}
    if run.status == "running":
        said = "The answer is still being worked on: send the same request again, or ask for the operation."
        return _refused({"detail": said, **body}, 503, wait)
    body = {"detail": f"Reflect failed: {run.error_message} ({run.error})", **body}
    if run.error in _PASSING:
        return _refused(body, 503, wait)
    return _refused(body, 504 if run.error in _OUT_OF_TIME else 500, {})


def _refused(body: dict[str, object], status: int, headers: dict[str, str]) -> Response:
    answer = json_answer(body, status)
    answer.headers.update(headers)
    return answer


def _prefers_async(request: Request) -> bool:
    preferences = ",".join(request.headers.getlist("prefer")).split(",")
    return any(preference.split(";")[0].strip().lower() == "respond-async" for preference in preferences)


def _patience(request: Request, settings: Settings) -> float:
    """How long this caller can be kept waiting: the HTTP API hangs up after 30 s, a Function URL does not."""
    event = request.scope.get("aws.event") or {}
    if event.get("routeKey") == _FUNCTION_URL_ROUTE:
        return settings.hindsight_reflect_url_wait_seconds
    return settings.hindsight_reflect_wait_seconds
