"""One definition for both types of workflow: what is deployed differs in nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.infra.conftest import ROOT


def test_standard_and_express_differ_in_their_type_alone() -> None:  # [X089]
    made = subprocess.run(
        [sys.executable, "-m", "tests.infra.workflow_types"],
        cwd=ROOT,
        env={"PATH": "", "PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert made.returncode == 0, made.stderr

    standard, express = ([*_machines(template)] for template in json.loads(made.stdout))

    assert len(standard) == len(express) > 0
    assert {machine.pop("StateMachineType") for machine in standard} == {"STANDARD"}
    assert {machine.pop("StateMachineType") for machine in express} == {"EXPRESS"}
    assert standard == express


def _machines(template: dict[str, Any]) -> list[dict[str, Any]]:
    found = template["Resources"].values()
    return [one["Properties"] for one in found if one["Type"] == "AWS::StepFunctions::StateMachine"]
