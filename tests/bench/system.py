"""The system under measurement: `python -m infra.local up` as a process of its own, and the CPU time of its parts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.state_folder import state_folder

_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_UP_WITHIN_S: Final = 120.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 1, slice(11, 15)  # places in /proc/<pid>/stat after the command: own and reaped children's time


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU seconds used so far: of the models' process (embedding, text) and of all else."""

    models: float
    rest: float

    def since(self, before: Cpu) -> Cpu:
        """What was used since then."""
        return Cpu(self.models - before.models, self.rest - before.rest)


@dataclass(frozen=True, slots=True)
class System:
    """A running stack."""

    pid: int
    base_url: str
    bedrock_url: str
    superuser_url: str

    def cpu(self) -> Cpu:
        """CPU time of the whole process tree so far."""
        models = rest = 0.0
        for pid, seconds in _tree(self.pid):
            if b"infra.local.bedrock" in _command(pid):
                models += seconds
            else:
                rest += seconds
        return Cpu(models, rest)


@contextmanager
def running_system() -> Iterator[System]:
    """A stack on fresh data and a free port, ended afterwards. Raises: RuntimeError when it does not come up."""
    with state_folder() as state:
        command = [sys.executable, "-m", "infra.local", "up", "--port", "0", "--state", str(state / "state")]
        process = subprocess.Popen(command, cwd=_REPOSITORY, stdout=subprocess.PIPE, text=True)
        try:
            yield System(process.pid, *_addresses(process))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def _addresses(process: subprocess.Popen[str]) -> tuple[str, str, str]:
    """The addresses of the API, the models and the database, as the stack announces them."""
    assert process.stdout is not None
    found: dict[str, str] = {}
    give_up_at = time.monotonic() + _UP_WITHIN_S
    for line in process.stdout:
        if match := re.match(r"\s*(HTTP API|Bedrock|Postgres)\s+(\w+://\S+)", line):
            found[match[1]] = match[2]
        if len(found) == 3:
            return found["HTTP API"], found["Bedrock"], found["Postgres"]
        if time.monotonic() > give_up_at:
            break
    raise RuntimeError("the stack did not come up")


def _tree(root: int) -> Iterator[tuple[int, float]]:
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(entry)):
            children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
            seconds[int(entry.name)] = sum(map(int, fields[_TIMES])) / _TICKS
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        yield pid, seconds.get(pid, 0.0)


def _stat(process: Path) -> list[str]:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
