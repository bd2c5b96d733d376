"""Runs one execution of a machine: states in order, retries, catches, maps and time limits, payloads through JSON.

Called by executions.py and the tests; calls the functions behind Task states through `Invoke`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from infra.local.workflow.definition import Choice, Fail, Machine, Map, Retrier, Rule, Succeed, Task
from infra.local.workflow.errors import NO_CHOICE_MATCHED, RUNTIME, TIMEOUT, StatesError
from infra.local.workflow.payload import Json, Meter, fill, read, write
from infra.local.workflow.timing import Timing

Invoke = Callable[[str, Json], Awaitable[Json]]
"""Runs the function behind a resource on one event. Raises: StatesError, named after what the function raised."""

_Result = TypeVar("_Result")
_NO_CONTEXT: Mapping[str, Json] = {}


class Interpreter:
    """One execution. `visited` names the states entered, a map's as `Map/State`; `meter` has seen every payload."""

    def __init__(self, machine: Machine, invoke: Invoke, timing: Timing | None = None) -> None:
        self._machine = machine
        self._invoke = invoke
        self._timing = timing or Timing()
        self.meter = Meter()
        self.visited: list[str] = []
        self.pauses: list[float] = []

    async def run(self, data: Json) -> Json:
        """The execution's output.

        Raises: StatesError: of a Fail state, of a state that nobody caught, or States.Timeout of the whole.
        """
        execution = self._run(self._machine, self.meter.carry(data), _NO_CONTEXT, "")
        if self._machine.timeout is None:
            return await execution
        return await self._within(self._machine.timeout, execution)

    async def _run(self, machine: Machine, data: Json, context: Mapping[str, Json], prefix: str) -> Json:
        name: str | None = machine.start
        while name is not None:
            self.visited.append(prefix + name)
            state = machine.states[name]
            if isinstance(state, Succeed):
                return data
            if isinstance(state, Fail):
                raise StatesError(state.error, state.cause)
            if isinstance(state, Choice):
                name = _chosen(state, data)
            else:
                name, data = await self._work(state, data, context, f"{prefix}{name}/")
        return data

    async def _work(
        self, state: Task | Map, data: Json, context: Mapping[str, Json], prefix: str
    ) -> tuple[str | None, Json]:
        """Where a state that does something leads, and its output."""
        try:
            if isinstance(state, Task):
                result = await self._retried(state, data, context)
            else:
                result = await self._mapped(state, data, prefix)
            return state.next, self.meter.carry(write(state.result_path, data, result))
        except StatesError as error:
            for catcher in state.catch:
                if error.is_named_in(catcher.errors):
                    caught: Json = {"Error": error.name, "Cause": error.cause}
                    return catcher.next, self.meter.carry(write(catcher.result_path, data, caught))
            raise

    async def _retried(self, task: Task, data: Json, context: Mapping[str, Json]) -> Json:
        used = [0] * len(task.retry)
        while True:
            try:
                return await self._attempt(task, data, context)
            except StatesError as error:
                index = _retrier_for(task.retry, error)
                if index is None or used[index] >= task.retry[index].attempts:
                    raise
                pause = self._pause(task.retry[index], used[index])
                used[index] += 1
            self.pauses.append(pause)
            await self._timing.clock.sleep(pause)

    async def _attempt(self, task: Task, data: Json, context: Mapping[str, Json]) -> Json:
        parameters = data if task.parameters is None else fill(task.parameters, data, context)
        event = self.meter.carry(parameters)
        return self.meter.carry(await self._within(task.timeout, self._invoke(task.resource, event)))

    async def _mapped(self, state: Map, data: Json, prefix: str) -> Json:
        items = read(state.items_path, data, _NO_CONTEXT)
        if not isinstance(items, list):
            raise StatesError(RUNTIME, f"{state.items_path} is not a list")
        slots = asyncio.Semaphore(state.concurrency or len(items) or 1)

        async def one(index: int, value: Json) -> Json:
            async with slots:
                context: dict[str, Json] = {"Map": {"Item": {"Index": index, "Value": value}}}
                selected = self.meter.carry(fill(state.selector, data, context))
                return await self._run(state.processor, selected, context, prefix)

        tasks = [asyncio.ensure_future(one(index, value)) for index, value in enumerate(items)]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    def _pause(self, retrier: Retrier, used: int) -> float:
        pause = retrier.interval * retrier.backoff**used
        if retrier.longest is not None:
            pause = min(pause, retrier.longest)
        return pause * self._timing.chance() if retrier.full_jitter else pause

    async def _within(self, seconds: float, work: Awaitable[_Result]) -> _Result:
        """The work's result. Raises: StatesError, States.Timeout when it takes longer; the function itself runs on."""
        running = asyncio.ensure_future(work)
        alarm = asyncio.ensure_future(self._timing.clock.sleep(seconds))
        try:
            await asyncio.wait({running, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            raise StatesError(TIMEOUT, f"no answer within {seconds:g} s")
        finally:
            alarm.cancel()
            running.cancel()


def _retrier_for(retriers: tuple[Retrier, ...], error: StatesError) -> int | None:
    return next((index for index, retrier in enumerate(retriers) if error.is_named_in(retrier.errors)), None)


def _chosen(state: Choice, data: Json) -> str:
    for rule in state.rules:
        if _holds(rule, read(rule.variable, data, _NO_CONTEXT)):
            return rule.next
    if state.default is None:
        raise StatesError(NO_CHOICE_MATCHED, "no rule holds and there is no default")
    return state.default


def _holds(rule: Rule, value: Json) -> bool:
    if isinstance(rule.operand, str):
        return value == rule.operand
    return isinstance(value, int | float) and not isinstance(value, bool) and value > rule.operand
