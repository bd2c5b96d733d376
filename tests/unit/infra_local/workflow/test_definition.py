"""Definitions are read strictly: what the interpreter would not do as the service does is refused at load."""

from __future__ import annotations

import json

import pytest

from infra.local.workflow import DefinitionError, lint, load, machines
from infra.local.workflow.payload import Json, JsonObject

_EVERYTHING: list[Json] = ["States.ALL"]
_RETRIER: JsonObject = {"ErrorEquals": _EVERYTHING}
_RETRY: list[Json] = [_RETRIER]
_TASK: JsonObject = {"Type": "Task", "Resource": "r", "TimeoutSeconds": 1, "Retry": _RETRY, "End": True}


def machine(**states: Json) -> str:
    return json.dumps({"StartAt": next(iter(states)), "States": states})


_REFUSED: list[tuple[Json, str]] = [
    ({**_TASK, "HeartbeatSeconds": 3}, "HeartbeatSeconds"),
    ({**_TASK, "OutputPath": "$.x"}, "OutputPath"),
    ({**_TASK, "ResultSelector": {}}, "ResultSelector"),
    ({**_TASK, "QueryLanguage": "JSONata"}, "QueryLanguage"),
    ({"Type": "Wait", "Seconds": 1, "End": True}, "Wait"),
    ({"Type": "Pass", "End": True}, "Pass"),
    ({"Type": "Parallel", "Branches": [], "End": True}, "Parallel"),
    ({**_TASK, "Next": "A"}, "Next or End"),
    ({**_TASK, "ResultPath": "$.a[0]"}, "path"),
    ({**_TASK, "Parameters": {"x.$": "States.Format('{}', $.a)"}}, "path"),
    ({**_TASK, "Retry": [{"ErrorEquals": ["States.ALL", "X"]}]}, "States.ALL"),
    ({**_TASK, "Retry": [{"ErrorEquals": ["X"], "JitterStrategy": "SOME"}]}, "JitterStrategy"),
    ({**_TASK, "Resource": None}, "Resource"),
    ({"Type": "Task", "Resource": "r", "End": True}, "TimeoutSeconds"),
    ({"Type": "Choice", "Choices": [{"Variable": "$.a", "IsPresent": True, "Next": "A"}]}, "IsPresent"),
    ({"Type": "Choice", "Choices": [{"Variable": "$.a", "Next": "A"}]}, "comparison"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "named"), _REFUSED)
def test_what_is_not_implemented_is_refused_at_load(state: Json, named: str) -> None:
    with pytest.raises(DefinitionError, match=named):
        load(machine(A=state), {})


def test_a_placeholder_without_a_value_is_refused() -> None:
    with pytest.raises(DefinitionError, match="placeholder"):
        load(machine(A={**_TASK, "Resource": "${Missing}"}), {"Other": "x"})


@pytest.mark.parametrize(
    ("states", "fault"),
    [
        ({"A": {**_TASK, "End": False, "Next": "B"}}, "no state 'B'"),
        ({"A": {"Type": "Succeed"}, "B": {"Type": "Succeed"}}, "B: nothing leads here"),
        ({"A": {"Type": "Choice", "Choices": [], "Default": "A"}}, "A: leads to no end"),
        ({"A": {**_TASK, "Retry": []}}, "A: a task without Retry"),
        ({"A": {**_TASK, "Retry": [{"ErrorEquals": ["DatabaseUnavailable"]}]}}, "A: WorkRaced is not retried"),
        ({"A": _TASK}, "A: a state that may fail without Catch"),
    ],
)
def test_the_lint_names_each_fault(states: JsonObject, fault: str) -> None:  # [X088]
    assert any(fault in found for found in lint(load(machine(**states), {})))


def test_the_workflows_of_this_repository_hold_to_the_lint() -> None:  # [X088]
    assert {name: lint(found) for name, found in machines().items()} == {"reflect": []}
