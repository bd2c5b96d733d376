"""The executions of this machine's workflows: started once per name, described, stopped. Called by the endpoint.

Lives on one event loop; what runs when the stack ends is gone, and the sweep finds its rows.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from infra.local.workflow.definition import Machine
from infra.local.workflow.errors import TIMEOUT, StatesError
from infra.local.workflow.interpreter import Interpreter, Invoke
from infra.local.workflow.payload import LIMIT_BYTES, Json
from infra.local.workflow.timing import Timing

_log = logging.getLogger(__name__)

_ARN: Final = "arn:aws:states:us-east-1:000000000000"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,80}")


class WorkflowError(Exception):
    """A request Step Functions refuses; `code` is its error's name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code: Final = code


@dataclass(slots=True)
class Execution:
    """One run of a workflow; times are seconds since the epoch, `output` is JSON text."""

    arn: str
    machine_arn: str
    name: str
    input: str
    started_at: float
    status: str = "RUNNING"
    output: str | None = None
    error: str | None = None
    cause: str | None = None
    stopped_at: float | None = None
    largest_payload: int = 0
    task: "asyncio.Task[None] | None" = field(default=None, repr=False)


def machine_arn(workflow: str) -> str:
    """The ARN of a workflow of this machine."""
    return f"{_ARN}:stateMachine:{workflow}"


class WorkflowService:
    """The workflows, by name, and every execution since the stack started."""

    def __init__(self, machines: Mapping[str, Machine], invoke: Invoke, timing: Timing | None = None) -> None:
        self._machines = {machine_arn(name): (name, machine) for name, machine in machines.items()}
        self._invoke = invoke
        self._timing = timing
        self._executions: dict[str, Execution] = {}

    def start(self, arn: str, name: str, text: str) -> Execution:
        """The execution of that name; one that runs already with the same input is the answer, as with the service.

        Raises: WorkflowError.
        """
        workflow, machine = self._machine(arn)
        if not _NAME.fullmatch(name):
            raise WorkflowError("InvalidName", "Invalid Name")
        data = _parsed(text)
        execution_arn = f"{_ARN}:execution:{workflow}:{name}"
        known = self._executions.get(execution_arn)
        if known is not None:
            if known.status == "RUNNING" and known.input == text:
                return known
            raise WorkflowError("ExecutionAlreadyExists", f"Execution Already Exists: '{execution_arn}'")
        execution = Execution(execution_arn, arn, name, text, time.time())
        execution.task = asyncio.get_running_loop().create_task(self._run(execution, machine, data))
        self._executions[execution_arn] = execution
        return execution

    def describe(self, execution_arn: str) -> Execution:
        """The execution with that ARN. Raises: WorkflowError."""
        execution = self._executions.get(execution_arn)
        if execution is None:
            raise WorkflowError("ExecutionDoesNotExist", f"Execution Does Not Exist: '{execution_arn}'")
        return execution

    def stop(self, execution_arn: str, error: str | None, cause: str | None) -> Execution:
        """Ends the execution; the function it waits for runs on. Raises: WorkflowError."""
        execution = self.describe(execution_arn)
        if execution.status == "RUNNING":
            _end(execution, "ABORTED", error, cause)
            if execution.task is not None:
                execution.task.cancel()
        return execution

    async def close(self) -> None:
        """Ends every execution, as a machine that stops does."""
        tasks = [execution.task for execution in self._executions.values() if execution.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _machine(self, arn: str) -> tuple[str, Machine]:
        found = self._machines.get(arn)
        if found is None:
            raise WorkflowError("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")
        return found

    async def _run(self, execution: Execution, machine: Machine, data: Json) -> None:
        interpreter = Interpreter(machine, self._invoke, self._timing)
        try:
            output = await interpreter.run(data)
        except StatesError as error:
            _log.warning("%s failed: %s", execution.name, error.name)
            _end(execution, "TIMED_OUT" if error.name == TIMEOUT else "FAILED", error.name, error.cause)
        else:
            execution.output = json.dumps(output)
            _end(execution, "SUCCEEDED", None, None)
        finally:
            execution.largest_payload = interpreter.meter.largest


def _end(execution: Execution, status: str, error: str | None, cause: str | None) -> None:
    execution.status, execution.error, execution.cause = status, error, cause
    execution.stopped_at = time.time()


def _parsed(text: str) -> Json:
    if len(text.encode()) > LIMIT_BYTES:
        raise WorkflowError("ValidationException", f"'input' must have at most {LIMIT_BYTES} bytes")
    try:
        data: Json = json.loads(text)
    except ValueError as wrong:
        raise WorkflowError("InvalidExecutionInput", f"Invalid State Machine Execution Input: '{wrong}'") from wrong
    return data
