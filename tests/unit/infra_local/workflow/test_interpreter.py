"""The reflect workflow on our interpreter: what it visits, how it waits, and what it refuses to carry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from infra.local.workflow import Interpreter, Machine, StatesError, Timing, load, machines
from infra.local.workflow.payload import LIMIT_BYTES, Json, JsonObject
from tests.support.workflow import Script, StepError, VirtualClock, run_here
from tests.unit.infra_local.workflow import scripts
from tests.unit.infra_local.workflow.scripts import START, failing, payload, planned, script


@pytest.fixture(scope="module")
def reflect() -> Machine:
    return machines()["reflect"]


def test_a_run_visits_its_states_in_order(reflect: Machine) -> None:  # [X077]
    outcome = run_here(reflect, script(planned(("run_tools", 2), ("call_model", 0), ("finish", 0))), START)

    assert outcome.status == "SUCCEEDED"
    assert outcome.output == {"run_id": "r", "status": "completed"}
    assert outcome.visited == (
        "Prepare", "Plan", "Route", "RunTools", "RunTool", "RunTool", "Plan", "Route", "CallModel", "Plan", "Route",
        "Finish", "Done",
    )  # fmt: skip


def test_three_throttles_are_waited_out_with_growing_pauses(reflect: Machine) -> None:  # [X079]
    outcome = run_here(reflect, scripts.throttled_thrice(), START)

    assert outcome.status == "SUCCEEDED"
    assert list(outcome.pauses) == [1, 2, 4]
    assert dict(outcome.calls)["call_model"] == 4


def test_endless_throttling_goes_back_to_the_plan_which_gives_up(reflect: Machine) -> None:  # [X080]
    outcome = run_here(reflect, scripts.throttled_for_ever(), START)

    assert (outcome.status, outcome.error) == ("FAILED", "ReflectFailed")
    assert list(outcome.pauses) == [1, 2, 4, 8, 12] * 2
    assert dict(outcome.calls)["fail"] == 1


@pytest.mark.parametrize("make", [scripts.finish_embeds_late, scripts.database_is_slow])
def test_what_passes_is_waited_out_wherever_it_strikes(reflect: Machine, make: Callable[[], Script]) -> None:
    outcome = run_here(reflect, make(), START)

    assert (outcome.status, dict(outcome.calls)["plan"]) == ("SUCCEEDED", 2)


def test_a_runaway_is_stopped_by_the_guard(reflect: Machine) -> None:  # [X085]
    outcome = run_here(reflect, scripts.runaway(), START)

    assert (outcome.status, outcome.visited[-2:]) == ("FAILED", ("RecordFailure", "Failed"))
    assert dict(outcome.calls)["plan"] == 22


def test_a_tool_that_fails_for_good_fails_the_run(reflect: Machine) -> None:  # [X084]
    outcome = run_here(reflect, scripts.tool_fails(), START)

    assert (outcome.status, outcome.visited[-2:]) == ("FAILED", ("RecordFailure", "Failed"))


def test_only_the_tool_that_failed_is_run_again(reflect: Machine) -> None:  # [X083]
    outcome = run_here(reflect, scripts.tool_fails_once(), START)

    assert outcome.status == "SUCCEEDED"
    assert dict(outcome.calls)["run_tool"] == 4


def test_a_step_that_never_answers_times_out_and_is_tried_again(reflect: Machine) -> None:
    clock = VirtualClock()
    hung = [True]

    def prepare(_event: JsonObject) -> Json:
        if hung.pop() if hung else False:
            raise StepError("States.Timeout")
        return payload(0, "plan")

    outcome = run_here(reflect, script(planned(("finish", 0)), prepare=prepare), START, clock)

    assert outcome.status == "SUCCEEDED"
    assert list(outcome.pauses) == [1]


def test_a_function_that_hangs_is_given_up_after_the_tasks_timeout(reflect: Machine) -> None:
    clock = VirtualClock()

    async def hang(_resource: str, _event: Json) -> Json:
        await asyncio.Event().wait()
        return {}

    async def run() -> str:
        try:
            await Interpreter(reflect, hang, Timing(clock, lambda: 1.0)).run(START)
        except StatesError as error:
            return error.name
        return "none"

    assert asyncio.run(run()) == "ReflectFailed"
    assert clock.now() == 2 * (4 * 30 + 1 + 2 + 4)  # prepare, then record the failure: four attempts of 30 s each


def test_an_execution_is_bounded_as_a_whole() -> None:
    task: JsonObject = {"Type": "Task", "Resource": "r", "TimeoutSeconds": 60, "End": True}
    text = json.dumps({"StartAt": "A", "TimeoutSeconds": 5, "States": {"A": task}})

    async def hang(_resource: str, _event: Json) -> Json:
        await asyncio.Event().wait()
        return {}

    async def run() -> str:
        try:
            await Interpreter(load(text, {}), hang, Timing(VirtualClock())).run({})
        except StatesError as error:
            return error.name
        return "none"

    assert asyncio.run(run()) == "States.Timeout"


def test_a_payload_over_the_limit_fails_the_execution_and_nobody_catches_it(reflect: Machine) -> None:
    outcome = run_here(reflect, script(lambda _: {"action": "x" * LIMIT_BYTES}), START)

    assert (outcome.status, outcome.error) == ("FAILED", "States.DataLimitExceeded")


def test_what_json_cannot_hold_fails_the_execution(reflect: Machine) -> None:
    outcome = run_here(reflect, script(lambda _: {"turn": float("nan")}), START)

    assert (outcome.status, outcome.error) == ("FAILED", "States.Runtime")


def test_jitter_shortens_a_pause_by_chance(reflect: Machine) -> None:
    steps = scripts.throttled_thrice()

    async def invoke(_resource: str, event: Json) -> Json:
        assert isinstance(event, dict)
        try:
            return steps.answer(event)
        except StepError as error:
            raise StatesError(error.name) from error

    async def run() -> list[float]:
        interpreter = Interpreter(reflect, invoke, Timing(VirtualClock(), lambda: 0.25))
        await interpreter.run(START)
        return interpreter.pauses

    assert asyncio.run(run()) == [0.25, 0.5, 1.0]


def test_the_largest_payload_of_a_run_stays_below_two_kilobytes(reflect: Machine) -> None:  # [X077]
    outcome = run_here(reflect, scripts.happy(), START)

    assert 0 < outcome.largest_payload < 2048


def test_a_failed_map_leaves_no_item_running(reflect: Machine) -> None:
    failing_tool = failing(1, "ToolFailed")

    outcome = run_here(reflect, script(planned(("run_tools", 30)), run_tool=failing_tool), START)

    assert outcome.status == "FAILED"
    assert dict(outcome.calls)["run_tool"] < 30
