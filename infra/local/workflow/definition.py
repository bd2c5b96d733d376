"""A workflow's definition as typed values, read strictly: what is not implemented is refused at load.

Called by the local stack, the lint and the tests; the subset is exactly what infra/workflows uses.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from infra.local.workflow.errors import ALL, DefinitionError
from infra.local.workflow.fields import Fields
from infra.local.workflow.payload import Json, JsonObject, check_path, check_template


@dataclass(frozen=True, slots=True)
class Retrier:
    """One entry of Retry; the pause before attempt n is `interval * backoff ** n`, at most `longest`. Seconds."""

    errors: tuple[str, ...]
    interval: float
    backoff: float
    attempts: int
    longest: float | None
    full_jitter: bool


@dataclass(frozen=True, slots=True)
class Catcher:
    """One entry of Catch; `result_path` None drops the error."""

    errors: tuple[str, ...]
    result_path: str | None
    next: str


@dataclass(frozen=True, slots=True)
class Task:
    """Invokes a function with `parameters` filled from the input, or with the input itself."""

    resource: str
    parameters: JsonObject | None
    timeout: float
    retry: tuple[Retrier, ...]
    catch: tuple[Catcher, ...]
    result_path: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One comparison of a Choice: equal to a string operand, greater than a number."""

    variable: str
    operand: str | float
    next: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Goes where the first rule that holds leads, else to `default`."""

    rules: tuple[Rule, ...]
    default: str | None


@dataclass(frozen=True, slots=True)
class Map:
    """Runs a machine of its own for each item; the first that fails fails the state."""

    items_path: str
    concurrency: int
    selector: JsonObject
    processor: "Machine"
    catch: tuple[Catcher, ...]
    result_path: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class Succeed:
    """Ends well; the output is the input."""


@dataclass(frozen=True, slots=True)
class Fail:
    """Ends badly."""

    error: str
    cause: str


State: TypeAlias = Task | Choice | Map | Succeed | Fail


@dataclass(frozen=True, slots=True)
class Machine:
    """States by name and where to begin; `timeout` bounds an execution in seconds."""

    start: str
    states: Mapping[str, State]
    timeout: float | None = None


def load(text: str, substitutions: Mapping[str, str]) -> Machine:
    """The machine a definition file describes, with every `${Name}` replaced.

    Raises: DefinitionError for a wrong definition, one field or state not implemented, or a placeholder left over.
    """
    for name, value in substitutions.items():
        text = text.replace("${" + name + "}", value)
    if "${" in text:
        raise DefinitionError("a placeholder was given no value")
    try:
        document: Json = json.loads(text)
    except ValueError as wrong:
        raise DefinitionError(f"the definition is not JSON: {wrong}") from wrong
    fields = Fields("the definition", document)
    fields.ignore("Comment")
    return _machine(fields, timeout=fields.optional_number("TimeoutSeconds"))


def _machine(fields: Fields, timeout: float | None = None) -> Machine:
    start = fields.text("StartAt")
    states = {name: _state(Fields(name, state)) for name, state in fields.object("States").items()}
    fields.finish()
    return Machine(start, states, timeout)


def _state(fields: Fields) -> State:
    kind = fields.text("Type")
    fields.ignore("Comment")
    reader = _READERS.get(kind)
    if reader is None:
        raise DefinitionError(f"{fields.place}: state type {kind!r} is not implemented")
    state = reader(fields)
    fields.finish()
    return state


def _task(fields: Fields) -> Task:
    parameters = fields.optional_object("Parameters")
    check_template(parameters)
    return Task(
        resource=fields.text("Resource"),
        parameters=parameters,
        timeout=fields.number("TimeoutSeconds"),
        retry=tuple(_retrier(entry) for entry in fields.entries("Retry")),
        catch=tuple(_catcher(entry) for entry in fields.entries("Catch")),
        result_path=_result_path(fields),
        next=_next(fields),
    )


def _choice(fields: Fields) -> Choice:
    return Choice(tuple(_rule(entry) for entry in fields.entries("Choices")), fields.optional_text("Default"))


def _rule(fields: Fields) -> Rule:
    variable = check_path(fields.text("Variable"))
    following = fields.text("Next")
    text, number = fields.optional_text("StringEquals"), fields.optional_number("NumericGreaterThan")
    fields.finish()
    if text is not None and number is None:
        return Rule(variable, text, following)
    if number is not None and text is None:
        return Rule(variable, number, following)
    raise DefinitionError(f"{fields.place}: a rule has one comparison, StringEquals or NumericGreaterThan")


def _map(fields: Fields) -> Map:
    selector = fields.object("ItemSelector")
    check_template(selector)
    processor = Fields(f"{fields.place}.ItemProcessor", fields.object("ItemProcessor"))
    if processor.object("ProcessorConfig") != {"Mode": "INLINE"}:
        raise DefinitionError(f"{processor.place}: only the INLINE mode is implemented")
    return Map(
        items_path=check_path(fields.text("ItemsPath")),
        concurrency=int(fields.number("MaxConcurrency")),
        selector=selector,
        processor=_machine(processor),
        catch=tuple(_catcher(entry) for entry in fields.entries("Catch")),
        result_path=_result_path(fields),
        next=_next(fields),
    )


def _succeed(fields: Fields) -> Succeed:  # noqa: ARG001 - every reader takes the fields
    return Succeed()


def _fail(fields: Fields) -> Fail:
    return Fail(fields.text("Error"), fields.text("Cause"))


_READERS: Final[Mapping[str, Callable[[Fields], State]]] = {
    "Task": _task,
    "Choice": _choice,
    "Map": _map,
    "Succeed": _succeed,
    "Fail": _fail,
}


def _retrier(fields: Fields) -> Retrier:
    jitter = fields.optional_text("JitterStrategy")
    if jitter not in {None, "NONE", "FULL"}:
        raise DefinitionError(f"{fields.place}: JitterStrategy {jitter!r} is not NONE or FULL")
    retrier = Retrier(
        errors=_errors(fields),
        interval=fields.optional_number("IntervalSeconds", 1.0) or 0.0,
        backoff=fields.optional_number("BackoffRate", 2.0) or 1.0,
        attempts=int(fields.optional_number("MaxAttempts", 3.0) or 0),
        longest=fields.optional_number("MaxDelaySeconds"),
        full_jitter=jitter == "FULL",
    )
    fields.finish()
    return retrier


def _catcher(fields: Fields) -> Catcher:
    catcher = Catcher(_errors(fields), _result_path(fields), fields.text("Next"))
    fields.finish()
    return catcher


def _errors(fields: Fields) -> tuple[str, ...]:
    errors = fields.texts("ErrorEquals")
    if not errors or (ALL in errors and len(errors) > 1):
        raise DefinitionError(f"{fields.place}: ErrorEquals names errors, or States.ALL alone")
    return errors


def _result_path(fields: Fields) -> str | None:
    path = fields.optional("ResultPath", "$")
    return None if path is None else check_path(path)


def _next(fields: Fields) -> str | None:
    following, ends = fields.optional_text("Next"), fields.optional("End", absent=False)
    if (following is None) == (ends is not True):
        raise DefinitionError(f"{fields.place}: a state has either Next or End")
    return following
