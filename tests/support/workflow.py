"""Runs a workflow with scripted steps: on our interpreter in virtual time, and on moto's as a second opinion."""

from __future__ import annotations

import asyncio
import heapq
import io
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from infra.local.workflow import Interpreter, Machine, StatesError, Timing, function_arn
from infra.local.workflow.catalogue import WORKFLOWS
from infra.local.workflow.payload import Json, JsonObject

ScriptedStep = Callable[[JsonObject], Json]
"""Answers one event of the step, or raises StepError."""


class StepError(Exception):
    """What a scripted step raises in place of an answer; `name` is the error's type."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class VirtualClock:
    """Time that passes only while everybody waits for it: nothing new was begun for many turns of the event loop."""

    _QUIET_TURNS = 100

    def __init__(self) -> None:
        self._now = 0.0
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._watch = 0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._order), done))
        self._begin_watch()
        await done

    def _begin_watch(self) -> None:
        self._watch += 1
        asyncio.get_running_loop().call_soon(self._look, self._watch, self._QUIET_TURNS)

    def _look(self, watch: int, turns_left: int) -> None:
        if watch != self._watch:
            return
        if turns_left:
            asyncio.get_running_loop().call_soon(self._look, watch, turns_left - 1)
            return
        while self._waiting:
            at, _, done = heapq.heappop(self._waiting)
            if not done.done():
                self._now = at
                done.set_result(None)
                self._begin_watch()
                return


@dataclass(slots=True)
class Script:
    """The functions behind the workflow: one per step; `calls` counts what each was asked."""

    steps: dict[str, ScriptedStep]
    calls: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, event: JsonObject) -> Json:
        """What the step named in the event answers. Raises: StepError."""
        step = str(event["step"])
        with self.lock:
            self.calls[step] = self.calls.get(step, 0) + 1
        return self.steps[step](event)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution went; `visited` names the states entered, those of a map once per item, sorted within it."""

    status: str
    output: Json
    error: str | None
    visited: tuple[str, ...]
    calls: tuple[tuple[str, int], ...]
    largest_payload: int = field(default=0, compare=False)
    pauses: tuple[float, ...] = field(default=(), compare=False)


def run_here(machine: Machine, script: Script, data: Json, clock: VirtualClock | None = None) -> Outcome:
    """One execution on our interpreter, in virtual time and without jitter."""
    return asyncio.run(_run_here(machine, script, data, clock or VirtualClock()))


async def _run_here(machine: Machine, script: Script, data: Json, clock: VirtualClock) -> Outcome:
    async def invoke(_resource: str, event: Json) -> Json:
        assert isinstance(event, dict)
        try:
            return script.answer(event)
        except StepError as error:
            raise StatesError(error.name, error.name) from error

    interpreter = Interpreter(machine, invoke, Timing(clock, lambda: 1.0))
    status, output, failed = "SUCCEEDED", None, None
    try:
        output = await interpreter.run(data)
    except StatesError as error:
        status, failed = "FAILED", error.name
    visited = tuple(name.rpartition("/")[2] for name in interpreter.visited)
    calls = tuple(sorted(script.calls.items()))
    return Outcome(status, output, failed, visited, calls, interpreter.meter.largest, tuple(interpreter.pauses))


class _ScriptedLambda:
    """The part of boto3's Lambda client that moto's interpreter calls."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, object]:  # noqa: N803 - boto3's own names
        try:
            answer = self._script.answer(json.loads(Payload))
        except StepError as error:
            document = {"errorType": error.name, "errorMessage": error.name}
            return {
                "StatusCode": 200,
                "FunctionError": "Unhandled",
                "Payload": io.BytesIO(json.dumps(document).encode()),
            }
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


def run_in_moto(monkeypatch: pytest.MonkeyPatch, workflow: str, script: Script, data: Json) -> Outcome:
    """The same execution on moto's interpreter, its pauses skipped."""
    monkeypatch.setattr(lambda_eval_utils, "boto_client_for", lambda **_: _ScriptedLambda(script))
    monkeypatch.setattr(retrier_decl, "time", SimpleNamespace(sleep=lambda _: None))
    text = (WORKFLOWS / f"{workflow}.asl.json").read_text("utf-8")
    definition = text.replace("${ReflectStepArn}", function_arn("reflect_step"))
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client(
            "stepfunctions", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        role = "arn:aws:iam::123456789012:role/workflow"
        machine = client.create_state_machine(name=workflow, definition=definition, roleArn=role)
        started = client.start_execution(stateMachineArn=machine["stateMachineArn"], input=json.dumps(data))
        arn = started["executionArn"]
        give_up_at = time.monotonic() + 60
        while (described := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
            assert time.monotonic() < give_up_at, "moto's interpreter does not end"
            time.sleep(0.01)
        # Read past moto's API: its serializer trips, now and then, over the events of a Map whose item failed.
        account = arn.split(":")[4]
        events = stepfunctions_parser_backends[account]["us-east-1"].get_execution_history(arn)["events"]
    visited = tuple(details["name"] for event in events if (details := event.get("stateEnteredEventDetails")))
    return Outcome(
        described["status"],
        json.loads(described["output"]) if "output" in described else None,
        described.get("error"),
        visited,
        tuple(sorted(script.calls.items())),
    )
