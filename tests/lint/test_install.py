"""What .ci/install asks uv for: an environment made anew, or one that keeps what another group runs on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lint.repository import ROOT

_OLD, _NEW = 1_000_000, 2_000_000


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose uv and Python only write down what they are asked."""
    for folder in (".ci", "requirements", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "install", tmp_path / ".ci")
    for name, script in {
        ".ci/find-python": "echo python3",
        ".ci/find-uv": "echo ./uv",
        ".venv/bin/python": "echo Python",
        "uv": 'echo "$1 $2" >> asked',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    for lock in ("build", "demo", "infra"):
        _touch(tmp_path / "requirements" / f"{lock}.lock", _OLD)
    return tmp_path


def _touch(path: Path, when: int) -> None:
    path.touch()
    os.utime(path, (when, when))


def _install(checkout: Path, group: str) -> list[str]:
    subprocess.run([checkout / ".ci" / "install", group], check=True, capture_output=True)
    return (checkout / "asked").read_text().splitlines()


def _stamps(checkout: Path) -> set[str]:
    return {stamp.stem for stamp in (checkout / ".venv").glob("*.stamp")}


def test_a_first_group_is_all_there_is(checkout: Path) -> None:
    assert _install(checkout, "demo") == ["pip sync", "pip install"]
    assert _stamps(checkout) == {"demo"}


def test_what_a_stack_may_be_running_on_stays_beside_a_second_group(checkout: Path) -> None:
    _touch(checkout / ".venv" / "demo.stamp", _NEW)

    assert _install(checkout, "infra") == ["pip install", "pip install"]
    assert _stamps(checkout) == {"demo", "infra"}


@pytest.mark.parametrize("lock", ["demo", "build"])
def test_what_is_of_a_former_lock_goes(checkout: Path, lock: str) -> None:
    _touch(checkout / ".venv" / "demo.stamp", _OLD)
    _touch(checkout / "requirements" / f"{lock}.lock", _NEW)

    assert _install(checkout, "infra") == ["pip sync", "pip install"]
    assert _stamps(checkout) == {"infra"}
