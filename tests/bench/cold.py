"""`python -m tests.bench cold`: what a fresh process of each function, as shipped, pays for imports and a first event.

The archives are built for this machine, unpacked outside the checkout and run by a Python that sees nothing else, on
the Postgres and the models of a local stack. Imports and first events are the least of their runs, which a busy machine
spoils least; CPU-ms are medians and steadier than wall time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import httpx

from infra.local.stack import LocalStack
from infra.topology import TOPOLOGY
from layers.mounted import Mounted
from tests.bench.cold_events import BANK, event_of, is_door
from tests.bench.table import Row, print_table
from tests.support.packaged import mounted_archives, running_packaged

_PROCESS: Final = Path(__file__).with_name("cold_process.py")
_OURS: Final = frozenset({"hindsight_aws", "handler"})
_LINE: Final = re.compile(r"^import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)$")
_HEAVIEST: Final = 10
GOALS: Final = {"door": 1_300, "worker": 700}
"""Milliseconds of import, DESIGN §12."""


@dataclass(frozen=True, slots=True)
class Start:
    """One function's start in milliseconds.

    `imported`: the total of `-X importtime`. `cpu`: of the import, a first event and the same again. `runtime`: under
    the Runtime API, wall, until it is ready and for its first event.
    """

    function: str
    imported: float
    cpu: tuple[float, float, float]
    runtime: tuple[float, float]

    @property
    def goal(self) -> int:
        """What the import may take."""
        return GOALS["door" if is_door(self.function) else "worker"]


@dataclass(frozen=True, slots=True)
class Import:
    """A third-party package in one function: milliseconds of its own modules, and with all that they import first."""

    package: str
    own: float
    with_others: float


def main(arguments: Sequence[str]) -> int:
    """Measures and prints; the answer is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench cold")
    parser.add_argument("--runs", type=int, default=5, help="fresh processes per function and measurement")
    names = [function.name for function in TOPOLOGY.functions]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="functions")
    chosen = parser.parse_args(arguments)
    with mounted_archives() as mounted:
        with running_packaged(mounted, snap_start=False) as stack:
            _prepare(stack)
            found = {name: _measured(mounted, stack, name, chosen.runs) for name in chosen.only}
        with running_packaged(mounted) as stack:
            _prepare(stack)
            restored = {name: _started(stack, name, chosen.runs)[1] for name in chosen.only if is_door(name)}
    print_table([_row(start, restored.get(name)) for name, (start, _) in found.items()])
    for name, (_, imports) in found.items():
        print(f"\n{name}: " + ", ".join(f"{one.package} {one.own:.0f} ({one.with_others:.0f})" for one in imports))
    print("\nThird-party imports: ms of the package's own modules (with all they import first), heaviest first.")
    return 0


def _measured(mounted: Mounted, stack: LocalStack, function: str, runs: int) -> tuple[Start, list[Import]]:
    variables = stack.variables_of(function)
    total, imports = heaviest(mounted, function, variables, runs)
    cpu = processor_time(mounted, function, variables, runs)
    return Start(function, total, cpu, _started(stack, function, runs)), imports


def _started(stack: LocalStack, function: str, runs: int) -> tuple[float, float]:
    """Wall milliseconds of an environment under the Runtime API: until it is ready, and for its first event."""
    event = json.dumps(event_of(function)).encode()
    ready, first = [], []
    for _ in range(runs):
        stack.kill_function(function)
        begun = time.perf_counter()
        stack.warm(function)
        up = time.perf_counter()
        stack.invoke(function, event)
        ready.append((up - begun) * 1000)
        first.append((time.perf_counter() - up) * 1000)
    return min(ready), min(first)


def processor_time(
    mounted: Mounted, function: str, variables: Mapping[str, str], runs: int
) -> tuple[float, float, float]:
    """CPU milliseconds of fresh processes: import, first event, next.  Raises: RuntimeError when one of them fails."""
    command = [*mounted.interpreter(), str(_PROCESS), *_path(mounted, function)]
    event = json.dumps(event_of(function))
    found = [json.loads(_run(command, variables, event).stdout.splitlines()[-1]) for _ in range(runs)]
    refused = [one["status"] for one in found if one["status"] not in (None, 200, 202)]
    if refused:
        raise RuntimeError(f"{function} answered {refused}")
    imported, first, second = (median(one[part][1] for one in found) for part in ("imported", "first", "second"))
    return imported, first, second


def heaviest(mounted: Mounted, function: str, variables: Mapping[str, str], runs: int) -> tuple[float, list[Import]]:
    """The total of the function's import, and its heaviest third-party packages by the time of their own modules."""
    own: dict[str, float] = {}
    whole: dict[str, float] = {}
    code = f"import sys; sys.path[:0] = {_path(mounted, function)!r}; import handler"
    for _ in range(runs):
        report = _run([*mounted.interpreter(), "-X", "importtime", "-c", code], variables, "").stderr
        for line in report.splitlines():
            if match := _LINE.match(line):
                module = match[4]
                own[module] = min(own.get(module, float("inf")), int(match[1]) / 1000)
                whole[module] = min(whole.get(module, float("inf")), int(match[2]) / 1000)
    of_package: dict[str, float] = defaultdict(float)
    for module, spent in own.items():
        of_package[module.partition(".")[0]] += spent
    foreign = [name for name in of_package if name not in sys.stdlib_module_names and name not in _OURS]
    found = [Import(name, of_package[name], max(whole.get(name, 0.0), of_package[name])) for name in foreign]
    return whole["handler"], sorted(found, key=lambda one: -one.own)[:_HEAVIEST]


def _path(mounted: Mounted, function: str) -> list[str]:
    return [str(place) for place in mounted.search_path(TOPOLOGY.function(function))]


def _prepare(stack: LocalStack) -> None:
    """A bank that remembers something."""
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        items = {"items": [{"content": "Ada lives in Paris and works as a gardener."}]}
        client.post(f"{BANK}/memories", json=items).raise_for_status()


def _run(command: Sequence[str], variables: Mapping[str, str], given: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        check=False,
        cwd=variables["LAMBDA_TASK_ROOT"],
        env=dict(variables),
        input=given,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2_000:]}")
    return done


def _row(one: Start, restored: float | None) -> Row:
    ready, first = one.runtime
    said = [
        f"import {one.imported:.0f} ms",
        "CPU-ms " + " / ".join(f"{part:.0f}" for part in one.cpu),
        f"ready {ready:.0f}, first event {first:.0f}",
    ]
    if restored is not None:
        said.append(f"after a snapshot {restored:.0f}")
    return Row(one.function, "; ".join(said), goal=f"import <= {one.goal} ms")
