"""The cloud stacks, synthesised once for all tests here, by the real command, without Node.js or Docker on the path.

Workers of one run share what any of them made: whoever comes first makes it, the others wait.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.infra.templates import DATA, SERVICE, Template

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 900


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


def _surroundings(**more: str) -> dict[str, str]:
    """An empty PATH and no way to a network."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    return kept | nowhere | {"PATH": "", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'shared'}"} | more


def _ran(*command: str, timeout: int, **more: str) -> tuple[subprocess.CompletedProcess[str], float]:
    started = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=_surroundings(**more),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    return ran, time.monotonic() - started


def synthesise(folder: Path, *context: str) -> Synthesis:
    """Runs `python -m infra.app` with that context, an empty PATH and no way to a network."""
    pairs = [word for pair in ("assets=stub", *context) for word in ("-c", pair)]
    ran, seconds = _ran("infra.app", *pairs, timeout=_PATIENCE_S, CDK_OUTDIR=str(folder))
    return Synthesis(ran.returncode, ran.stdout + ran.stderr, folder, seconds)


def combine(folder: Path, *names: str) -> dict[str, str]:
    """Synthesises those of tests/infra/combinations.py into folders of their names; what refused, and why."""
    ran, _ = _ran("tests.infra.combinations", str(folder), *names, timeout=_PATIENCE_S)
    assert ran.returncode == 0, ran.stderr
    refused: dict[str, str] = json.loads(ran.stdout)
    return refused


def _once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of that name, made by the first worker of the run that asks for it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, note = shared / name, shared / f"{name}.json"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            note.write_text(json.dumps(make(folder)), encoding="utf-8")
    return note


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The production profile."""

    def make(folder: Path) -> object:
        made = synthesise(folder, "profile=prod")
        return [made.returncode, made.report, str(folder), made.seconds]

    returncode, report, folder, seconds = json.loads(_once(tmp_path_factory, "prod", make).read_text(encoding="utf-8"))
    assert returncode == 0, report
    return Synthesis(returncode, report, Path(folder), seconds)


@pytest.fixture(scope="session")
def options(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two deployments, `everything` and `theirs`, which between them use every option."""
    note = _once(tmp_path_factory, "options", lambda folder: combine(folder, "everything", "theirs"))
    assert json.loads(note.read_text(encoding="utf-8")) == {}
    return note.with_suffix("")


@pytest.fixture(scope="session")
def data(prod: Synthesis) -> Template:
    """The stack of what lasts."""
    return Template.read(prod.folder, DATA)


@pytest.fixture(scope="session")
def service(prod: Synthesis) -> Template:
    """The stack of what every release makes anew."""
    return Template.read(prod.folder, SERVICE)
