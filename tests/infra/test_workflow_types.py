"""One definition for both types of workflow: what is deployed differs in nothing else."""

from pathlib import Path

import pytest

from tests.infra.templates import SERVICE, Properties, Template

pytestmark = [pytest.mark.synth, pytest.mark.timeout(900)]


def test_standard_and_express_differ_in_their_type_alone(service: Template, options: Path) -> None:  # [X089]
    standard = _machines(service)
    express = _machines(Template.read(options / "everything", SERVICE))

    assert len(standard) == len(express) > 0
    assert {machine.pop("StateMachineType") for machine in standard} == {"STANDARD"}
    assert {machine.pop("StateMachineType") for machine in express} == {"EXPRESS"}
    assert standard == express


def _machines(template: Template) -> list[Properties]:
    return [dict(machine) for machine in template.of_type("AWS::StepFunctions::StateMachine").values()]
