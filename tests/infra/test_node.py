"""The CDK's Node.js: from the wheel, unless the operator says otherwise."""

import subprocess
from pathlib import Path

import pytest

from infra.cloud.node import use_bundled_node


def test_the_wheels_node_is_used_when_none_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSII_NODE", "")

    binary = use_bundled_node()

    answer = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    assert Path(binary).is_absolute()
    assert int(answer.removeprefix("v").split(".")[0]) >= 22


def test_an_operators_choice_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSII_NODE", "chosen-node")

    assert use_bundled_node() == "chosen-node"
