"""Takes a workflow's event apart, runs the step it names, and answers the next payload.

Called by functions/reflect_step; calls the steps of reflect/.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from uuid import UUID

from hindsight_aws.errors import HindsightError, InvalidRequest
from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.conversation.transcript import MODEL_STEP
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.call_model import call_model
from hindsight_aws.reflect.steps.finish import fail, finish
from hindsight_aws.reflect.steps.plan import plan
from hindsight_aws.reflect.steps.prepare import prepare
from hindsight_aws.reflect.steps.rows import RunRef
from hindsight_aws.reflect.steps.run_tool import run_tool
from hindsight_aws.telemetry import about, memory_span

_log = logging.getLogger(__name__)

_ENDS = ("finish", "fail")


def run_step(ports: ReflectPorts, event: JsonObject, wake_refreshes: Callable[[TenantId, BankId], None]) -> JsonObject:
    """The step's answer: the next payload, or the run's id.

    Where a refresh has ended and others of its bank are due, they are woken: one of them may have waited behind it.

    Raises: InvalidRequest for an event that names no step, and what the step raises: the workflow goes by the class's
    name.
    """
    run = _object(event, "run")
    ref = RunRef(
        TenantId(_uuid(run, "tenant_id")), BankId(_uuid(run, "bank_id")), RunId(_uuid(run, "run_id")), _turn(run)
    )
    step = _STEPS.get(str(event.get("step")))
    if step is None:
        raise InvalidRequest(f"there is no step {event.get('step')!r}")
    about(tenant=ref.tenant_id, bank=ref.bank_id, run=ref.run_id)
    with memory_span(f"reflect {event['step']}"):
        answer = step(ports, ref, event) or {"run_id": str(ref.run_id)}
    if event.get("step") in _ENDS and _has_waiting(ports, ref):
        wake_refreshes(ref.tenant_id, ref.bank_id)
    return answer


def _has_waiting(ports: ReflectPorts, ref: RunRef) -> bool:
    """Whether the run is a refresh and its bank has others that are due; the sweep looks too if this cannot."""
    try:
        with ports.store.transaction(ref.tenant_id) as tx:
            run = tx.reflect.find(ref.bank_id, ref.run_id)
            return run is not None and run.kind == "refresh" and bool(tx.refreshes.due(ref.bank_id, 1))
    except HindsightError as error:
        _log.warning("refreshes of bank %s were not woken: %s: %s", ref.bank_id, type(error).__name__, error)
        return False


def _prepare(ports: ReflectPorts, ref: RunRef, _event: JsonObject) -> JsonObject | None:
    return prepare(ports, ref)


def _plan(ports: ReflectPorts, ref: RunRef, event: JsonObject) -> JsonObject | None:
    return plan(ports, ref, _failure(event)[0])


def _call_model(ports: ReflectPorts, ref: RunRef, event: JsonObject) -> JsonObject | None:
    call = event.get("call")
    call_model(ports, ref, str(call["step"]) if isinstance(call, dict) and "step" in call else MODEL_STEP)
    return None


def _run_tool(ports: ReflectPorts, ref: RunRef, event: JsonObject) -> JsonObject | None:
    run_tool(ports, ref, str(_object(event, "call").get("step")))
    return None


def _finish(ports: ReflectPorts, ref: RunRef, _event: JsonObject) -> JsonObject | None:
    finish(ports, ref)
    return None


def _fail(ports: ReflectPorts, ref: RunRef, event: JsonObject) -> JsonObject | None:
    fail(ports, ref, *_failure(event))
    return None


_STEPS: Mapping[str, Callable[[ReflectPorts, RunRef, JsonObject], JsonObject | None]] = {
    "prepare": _prepare,
    "plan": _plan,
    "call_model": _call_model,
    "run_tool": _run_tool,
    "finish": _finish,
    "fail": _fail,
}


def _failure(event: JsonObject) -> tuple[str | None, str | None]:
    """Name of the error that the workflow caught, if any, and a word on it.  Its cause, a stack trace, is not kept."""
    error = _object(event, "run").get("error")
    if not isinstance(error, dict):
        return None, None
    name = error.get("Error")
    return (name, f"the run failed with {name}") if isinstance(name, str) else (None, None)


def _object(event: JsonObject, name: str) -> JsonObject:
    value = event.get(name)
    if not isinstance(value, dict):
        raise InvalidRequest(f"{name} is not an object")
    return value


def _uuid(run: JsonObject, name: str) -> UUID:
    try:
        return UUID(str(run.get(name)))
    except ValueError:
        raise InvalidRequest(f"{name} is not a UUID") from None


def _turn(run: JsonObject) -> int:
    turn = run.get("turn", 0)
    if not isinstance(turn, int):
        raise InvalidRequest("turn is not a number")
    return turn
