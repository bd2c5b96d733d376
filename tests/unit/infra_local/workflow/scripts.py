"""Scripted reflect runs: what each step answers, for the interpreter's tests and for the comparison with moto's."""

from __future__ import annotations

from collections.abc import Iterator

from infra.local.workflow.payload import Json, JsonObject
from tests.support.workflow import Script, ScriptedStep, StepError

START: JsonObject = {"tenant_id": "t", "bank_id": "b", "run_id": "r"}


def payload(turn: int, action: str, calls: int = 0) -> JsonObject:
    """What the steps prepare and plan answer."""
    return {**START, "turn": turn, "action": action, "calls": [{"step": f"tool:{index}"} for index in range(calls)]}


def script(plan: ScriptedStep, **steps: ScriptedStep) -> Script:
    """A run whose other steps do their part without a word."""
    quiet: dict[str, ScriptedStep] = {
        "prepare": lambda _: payload(0, "plan"),
        "plan": plan,
        "call_model": lambda _: {},
        "run_tool": lambda _: {},
        "finish": lambda _: {"run_id": "r", "status": "completed"},
        "fail": lambda _: {},
    }
    return Script(quiet | steps)


def planned(*actions: tuple[str, int]) -> ScriptedStep:
    """A plan that goes through these actions, each with its number of calls."""
    left: Iterator[tuple[int, tuple[str, int]]] = iter(enumerate(actions, start=1))

    def plan(_event: JsonObject) -> Json:
        turn, (action, calls) = next(left)
        return payload(turn, action, calls)

    return plan


def patient(*actions: tuple[str, int]) -> ScriptedStep:
    """As `planned`, but two failed model calls in a row end the run, as the real plan does."""
    go = planned(*actions)
    failures = [0]

    def plan(event: JsonObject) -> Json:
        run = event["run"]
        assert isinstance(run, dict)
        failures[0] = failures[0] + 1 if "error" in run else 0
        return payload(99, "fail") if failures[0] == 2 else go(event)

    return plan


def failing(times: int | None, error: str) -> ScriptedStep:
    """A step that raises `error` so many times (None: always), then answers."""
    left = [times]

    def step(_event: JsonObject) -> Json:
        if left[0] is None:
            raise StepError(error)
        if left[0] > 0:
            left[0] -= 1
            raise StepError(error)
        return {}

    return step


def in_turn(*errors: str) -> ScriptedStep:
    """A step that raises these errors one after the other, then answers."""
    left = iter(errors)

    def step(_event: JsonObject) -> Json:
        error = next(left, None)
        if error is not None:
            raise StepError(error)
        return {}

    return step


def happy() -> Script:
    return script(planned(("run_tools", 3), ("call_model", 0), ("extract_claims", 5), ("call_model", 0), ("finish", 0)))


def throttled_thrice() -> Script:
    return script(planned(("call_model", 0), ("finish", 0)), call_model=failing(3, "ModelThrottled"))


def throttled_for_ever() -> Script:
    return script(patient(("call_model", 0), ("call_model", 0)), call_model=failing(None, "ModelThrottled"))


def runaway() -> Script:
    turns = iter(range(100, 1000))
    return script(lambda _: payload(next(turns), "call_model"))


def tool_fails() -> Script:
    """One item alone: how many siblings of a failed item had already begun is nobody's promise."""
    return script(planned(("run_tools", 1)), run_tool=failing(None, "ToolFailed"))


def tool_fails_once() -> Script:
    return script(planned(("run_tools", 3), ("finish", 0)), run_tool=failing(1, "DatabaseUnavailable"))


def context_overflows() -> Script:
    actions = (("call_model", 0), ("extract_claims", 2), ("finish", 0))
    overflow = iter([True])

    def call_model(_event: JsonObject) -> Json:
        if next(overflow, False):
            raise StepError("ModelInputTooLong")
        return {}

    return script(planned(*actions), call_model=call_model)


def claims_are_throttled() -> Script:
    """One part alone: how many siblings of a failed item had already begun is nobody's promise."""
    actions = (("extract_claims", 1), ("call_model", 0), ("finish", 0))
    return script(planned(*actions), call_model=failing(7, "ModelThrottled"))


def refused_after_the_answer() -> Script:
    return script(planned(("call_model", 0), ("finish", 0)), call_model=failing(1, "ModelRefused"))


def hung_after_the_answer() -> Script:
    return script(planned(("call_model", 0), ("finish", 0)), call_model=failing(4, "Sandbox.Timedout"))


def finish_fails() -> Script:
    return script(planned(("finish", 0)), finish=failing(None, "ModelDenied"))


def finish_embeds_late() -> Script:
    """The page's embedding is throttled, then two units of work meet: what was paid for is kept."""
    return script(
        planned(("call_model", 0), ("finish", 0)), finish=in_turn("ModelThrottled", "ModelUnavailable", "WorkRaced")
    )


def database_is_slow() -> Script:
    return script(
        planned(("call_model", 0), ("finish", 0)),
        call_model=in_turn("WorkRaced", "DatabaseTooSlow", "DatabaseUnavailable"),
        finish=in_turn("DatabaseTooSlow"),
    )


def nothing_works() -> Script:
    return script(planned(), prepare=failing(None, "DatabaseUnavailable"), fail=failing(None, "DatabaseUnavailable"))


SCRIPTS = (
    happy,
    throttled_thrice,
    throttled_for_ever,
    runaway,
    tool_fails,
    tool_fails_once,
    context_overflows,
    claims_are_throttled,
    refused_after_the_answer,
    hung_after_the_answer,
    finish_fails,
    finish_embeds_late,
    database_is_slow,
    nothing_works,
)
