"""Step Functions on this machine: a strict interpreter, its lint, and an endpoint for clients."""

from infra.local.workflow.catalogue import machines
from infra.local.workflow.definition import Machine, load
from infra.local.workflow.endpoint import WorkflowEndpoint
from infra.local.workflow.errors import DefinitionError, StatesError
from infra.local.workflow.executions import Execution, WorkflowService, machine_arn
from infra.local.workflow.functions import InvokeFunction, as_tasks, function_arn
from infra.local.workflow.interpreter import Interpreter, Invoke
from infra.local.workflow.lint import lint
from infra.local.workflow.timing import Clock, Timing

__all__ = [
    "Clock",
    "DefinitionError",
    "Execution",
    "Interpreter",
    "Invoke",
    "InvokeFunction",
    "Machine",
    "StatesError",
    "Timing",
    "WorkflowEndpoint",
    "WorkflowService",
    "as_tasks",
    "function_arn",
    "lint",
    "load",
    "machine_arn",
    "machines",
]
