"""The loopback Step Functions endpoint: AWS's JSON protocol over HTTP, for real clients. Calls the workflow service."""

import json
import uuid
from typing import Final

from infra.local.http import Endpoint, HttpRequest, HttpResponse
from infra.local.workflow.executions import Execution, WorkflowError, WorkflowService
from infra.local.workflow.payload import JsonObject

_CONTENT_TYPE: Final = ("content-type", "application/x-amz-json-1.0")
_MAX_BODY: Final = 1024 * 1024


class WorkflowEndpoint(Endpoint):
    """Serves StartExecution, DescribeExecution and StopExecution; signatures are not looked at."""

    def __init__(self, service: WorkflowService) -> None:
        self._service = service
        super().__init__(self._answer, max_body=_MAX_BODY)

    async def close(self) -> None:
        """Hangs up and ends what runs."""
        self.stop()
        await self._service.close()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        action = (request.header("x-amz-target") or "").rpartition(".")[2]
        request_id = ("x-amzn-requestid", str(uuid.uuid4()))
        try:
            answer, status = self._act(action, _parameters(request.body)), 200
        except WorkflowError as error:
            answer, status = {"__type": error.code, "message": str(error)}, 400
        return HttpResponse(status, json.dumps(answer).encode(), (_CONTENT_TYPE, request_id))

    def _act(self, action: str, parameters: JsonObject) -> JsonObject:
        if action == "StartExecution":
            name = _text(parameters, "name") or str(uuid.uuid4())
            text = _text(parameters, "input") or "{}"
            execution = self._service.start(_required(parameters, "stateMachineArn"), name, text)
            return {"executionArn": execution.arn, "startDate": execution.started_at}
        if action == "DescribeExecution":
            return _described(self._service.describe(_required(parameters, "executionArn")))
        if action == "StopExecution":
            error, cause = _text(parameters, "error"), _text(parameters, "cause")
            stopped = self._service.stop(_required(parameters, "executionArn"), error, cause)
            return {"stopDate": stopped.stopped_at}
        raise WorkflowError("UnknownOperationException", f"{action or 'the action'} is not implemented")


def _described(execution: Execution) -> JsonObject:
    described: JsonObject = {
        "executionArn": execution.arn,
        "stateMachineArn": execution.machine_arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": execution.started_at,
        "stopDate": execution.stopped_at,
        "input": execution.input,
        "output": execution.output,
        "error": execution.error,
        "cause": execution.cause,
    }
    return {name: value for name, value in described.items() if value is not None}


def _parameters(body: bytes) -> JsonObject:
    try:
        parameters = json.loads(body or b"{}")
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict):
        raise WorkflowError("SerializationException", "The request is not a JSON object.")
    return parameters


def _required(parameters: JsonObject, name: str) -> str:
    value = _text(parameters, name)
    if not value:
        raise WorkflowError("ValidationException", f"{name} is missing")
    return value


def _text(parameters: JsonObject, name: str) -> str | None:
    value = parameters.get(name)
    if value is not None and not isinstance(value, str):
        raise WorkflowError("ValidationException", f"{name} is not a string")
    return value
