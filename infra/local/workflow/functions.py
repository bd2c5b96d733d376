"""Task states on this machine: a function's ARN becomes an event for its pool, and its failure an error with a name.

Given to the interpreter by executions.py; calls whatever invokes functions by name.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Final

from infra.local.functions.outcome import ErrorKind, Failure, Outcome
from infra.local.workflow.errors import StatesError
from infra.local.workflow.interpreter import Invoke
from infra.local.workflow.payload import Json

InvokeFunction = Callable[[str, bytes], Awaitable[Outcome]]
"""Runs one event on the function of that name; the answer always comes."""

_ARN: Final = "arn:aws:lambda:us-east-1:000000000000:function:"


def function_arn(name: str) -> str:
    """What a definition's placeholder becomes for a function of this machine."""
    return _ARN + name


def as_tasks(invoke: InvokeFunction) -> Invoke:
    """Runs Task states on functions."""

    async def run(resource: str, event: Json) -> Json:
        outcome = await invoke(resource.removeprefix(_ARN), json.dumps(event).encode())
        if isinstance(outcome, Failure):
            raise _error_of(outcome)
        answer: Json = json.loads(outcome.payload)
        return answer

    return run


def _error_of(failure: Failure) -> StatesError:
    """The error as the service names it: what the function raised, or the Lambda service's own."""
    try:
        document = json.loads(failure.payload)
    except ValueError:
        document = None
    name = document.get("errorType") if isinstance(document, dict) else None
    if not isinstance(name, str) or not name:
        name = "Lambda.Unknown"
    if failure.kind is ErrorKind.THROTTLED:
        name = f"Lambda.{name}"
    return StatesError(name, failure.payload.decode(errors="replace"))
