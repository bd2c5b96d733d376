"""The Step Functions endpoint under a real client, and functions as the tasks of a workflow."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from hindsight_aws.aws.stepfunctions import StepFunctionsWorkflows
from hindsight_aws.errors import WorkDeferred
from hindsight_aws.model.ids import TenantId
from infra.local.functions import ErrorKind, Failure, Outcome, Success
from infra.local.workflow import (
    Machine,
    WorkflowEndpoint,
    WorkflowService,
    as_tasks,
    function_arn,
    load,
    machine_arn,
)
from infra.local.workflow.payload import JsonObject

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions.client import SFNClient


def one_task() -> Machine:
    """A machine that asks one function and tells its error, if any."""
    caught: JsonObject = {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Told"}
    task: JsonObject = {
        "Type": "Task", "Resource": function_arn("worker"), "TimeoutSeconds": 30, "Next": "Told", "Catch": [caught],
    }  # fmt: skip
    return load(json.dumps({"StartAt": "Ask", "States": {"Ask": task, "Told": {"Type": "Succeed"}}}), {})


class Worker:
    """The function behind the machine: answers, fails or hangs, as its event says."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []

    async def invoke(self, name: str, payload: bytes) -> Outcome:
        event: JsonObject = json.loads(payload)
        self.events.append({"function": name, **event})
        if event.get("do") == "hang":
            await asyncio.sleep(600)
        if event.get("do") == "raise":
            return Failure.of(ErrorKind.HANDLER, "ModelThrottled", "slow down")
        if event.get("do") == "throttle":
            return Failure.of(ErrorKind.THROTTLED, "TooManyRequestsException", "later")
        return Success(json.dumps({"answered": event}).encode())


@pytest.fixture(scope="module")
def worker() -> Worker:
    return Worker()


@pytest.fixture(scope="module")
def url(worker: Worker) -> Iterator[str]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    service = WorkflowService({"reflect": one_task()}, as_tasks(worker.invoke))
    endpoint = WorkflowEndpoint(service)
    yield asyncio.run_coroutine_threadsafe(endpoint.start(), loop).result(60)
    asyncio.run_coroutine_threadsafe(endpoint.close(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[SFNClient]:
    client = boto3.client(
        "stepfunctions", endpoint_url=url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )  # fmt: skip
    yield client
    client.close()


def start(client: SFNClient, name: str = "", **event: str) -> str:
    return client.start_execution(
        stateMachineArn=machine_arn("reflect"), name=name or str(uuid4()), input=json.dumps(event)
    )["executionArn"]


def ended(client: SFNClient, arn: str) -> tuple[str, str]:
    """Status and output, once there is an end."""
    give_up_at = time.monotonic() + 60
    while (described := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    return described["status"], described.get("output", "")


def refusal(error: pytest.ExceptionInfo[ClientError]) -> str:
    return error.value.response["Error"]["Code"]


def test_an_execution_runs_its_function_and_gives_its_output(client: SFNClient, worker: Worker) -> None:
    arn = start(client, do="answer")

    status, output = ended(client, arn)

    assert (status, json.loads(output)) == ("SUCCEEDED", {"answered": {"do": "answer"}})
    assert worker.events[-1]["function"] == "worker"


@pytest.mark.parametrize(("do", "name"), [("raise", "ModelThrottled"), ("throttle", "Lambda.TooManyRequestsException")])
def test_a_functions_error_is_caught_by_the_name_of_its_class(client: SFNClient, do: str, name: str) -> None:
    _, output = ended(client, start(client, do=do))

    assert json.loads(output)["error"]["Error"] == name


def test_the_same_name_and_input_is_the_same_execution_while_it_runs(client: SFNClient, worker: Worker) -> None:
    name, before = str(uuid4()), len(worker.events)

    first, second = start(client, name, do="hang"), start(client, name, do="hang")
    with pytest.raises(ClientError) as other:
        start(client, name, do="answer")
    client.stop_execution(executionArn=first)

    assert first == second
    assert refusal(other) == "ExecutionAlreadyExists"
    assert len(worker.events) == before + 1


def test_a_name_is_used_up_when_its_execution_has_ended(client: SFNClient) -> None:
    name = str(uuid4())
    ended(client, start(client, name, do="answer"))

    with pytest.raises(ClientError) as again:
        start(client, name, do="answer")

    assert refusal(again) == "ExecutionAlreadyExists"


def test_an_execution_that_is_stopped_is_aborted_with_its_reason(client: SFNClient) -> None:
    arn = start(client, do="hang")

    client.stop_execution(executionArn=arn, error="Cancelled", cause="nobody waits")
    described = client.describe_execution(executionArn=arn)

    assert (described["status"], described["error"], described["cause"]) == ("ABORTED", "Cancelled", "nobody waits")


def test_what_is_not_there_or_not_sound_is_refused_as_by_the_service(client: SFNClient) -> None:
    unknown = machine_arn("other")

    with pytest.raises(ClientError) as no_machine:
        client.start_execution(stateMachineArn=unknown, input="{}")
    with pytest.raises(ClientError) as no_execution:
        client.describe_execution(executionArn="arn:aws:states:us-east-1:000000000000:execution:reflect:none")
    with pytest.raises(ClientError) as no_json:
        client.start_execution(stateMachineArn=machine_arn("reflect"), input="{")
    with pytest.raises(ClientError) as no_name:
        client.start_execution(stateMachineArn=machine_arn("reflect"), name="a b", input="{}")

    assert [refusal(e) for e in (no_machine, no_execution, no_json, no_name)] == [
        "StateMachineDoesNotExist", "ExecutionDoesNotExist", "InvalidExecutionInput", "InvalidName",
    ]  # fmt: skip


def test_the_product_starts_a_run_once(url: str, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", url)
    workflows = StepFunctionsWorkflows("us-east-1", machine_arn("reflect"))
    tenant, bank, run, before = TenantId(uuid4()), uuid4(), uuid4(), len(worker.events)

    for _ in range(3):
        workflows.start_reflect(tenant, bank, run)
        time.sleep(0.05)

    assert [event["run_id"] for event in worker.events[before:]] == [str(run)]


def test_a_workflow_service_that_is_away_defers_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", "http://127.0.0.1:9")
    workflows = StepFunctionsWorkflows("us-east-1", machine_arn("reflect"))

    with pytest.raises(WorkDeferred):
        workflows.start_reflect(TenantId(uuid4()), uuid4(), uuid4())
