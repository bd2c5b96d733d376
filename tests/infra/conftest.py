"""The cloud stacks, synthesised once for all tests here, by the real command, without Node.js or Docker on the path."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.infra.templates import DATA, SERVICE, Template

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What one run of the command left behind."""

    returncode: int
    report: str
    folder: Path
    seconds: float


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker of tests that need the synthesised stacks."""
    config.addinivalue_line("markers", "synth: needs the cloud stacks, which take about ten seconds to synthesise")


def synthesise(folder: Path, *context: str) -> Synthesis:
    """Runs `python -m infra.app` with that context, an empty PATH and no way to a network."""
    surroundings = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    environment = surroundings | {
        "PATH": "",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'shared'}",
        "CDK_OUTDIR": str(folder),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }
    pairs = [word for pair in ("assets=stub", *context) for word in ("-c", pair)]
    started = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "infra.app", *pairs],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return Synthesis(ran.returncode, ran.stdout + ran.stderr, folder, time.monotonic() - started)


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The production profile."""
    made = synthesise(tmp_path_factory.mktemp("prod"), "profile=prod")
    assert made.returncode == 0, made.report
    return made


@pytest.fixture(scope="session")
def data(prod: Synthesis) -> Template:
    """The stack of what lasts."""
    return Template.read(prod.folder, DATA)


@pytest.fixture(scope="session")
def service(prod: Synthesis) -> Template:
    """The stack of what every release makes anew."""
    return Template.read(prod.folder, SERVICE)
