"""`python -m tests.bench cold`: what a fresh process of each function pays for its imports and for its first event.

Runs every handler on the Postgres and the models of a local stack. A module's import is the least of its runs, which
a busy machine spoils least; what whole steps take is the median, and CPU-ms are steadier than wall time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import UUID

import httpx

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Order
from hindsight_aws.webhooks.messages import order_to_text
from infra.local.options import DEV_TENANT
from infra.local.stack import LocalStack
from infra.topology import TOPOLOGY, Route
from tests.bench.table import Row, print_table
from tests.support.stack import running_stack

_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_EVENT: Final = _REPOSITORY / "tests" / "events" / "http-api.json"
_OURS: Final = frozenset({"hindsight_aws", "functions", "tests"})
_LINE: Final = re.compile(r"^import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)$")
_NOBODY: Final = "00000000-0000-4000-8000-000000000000"
_BANK: Final = "/v1/default/banks/cold"
_HEAVIEST: Final = 10
GOALS: Final = {"door": 1_300, "worker": 700}
"""Milliseconds of import, DESIGN §12."""


@dataclass(frozen=True, slots=True)
class Start:
    """Medians of one function in milliseconds, each wall and CPU: the import, the first event, the same event again."""

    function: str
    imported: tuple[float, float]
    first: tuple[float, float]
    second: tuple[float, float]

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
    with running_stack(prewarm=()) as stack:
        _prepare(stack)
        starts = [start(name, stack.variables_of(name), chosen.runs) for name in chosen.only]
        heavy = {name: heaviest(name, stack.variables_of(name), chosen.runs) for name in chosen.only}
    print_table([_row(one) for one in starts])
    for name, imports in heavy.items():
        print(f"\n{name}: " + ", ".join(f"{one.package} {one.own:.0f} ({one.with_others:.0f})" for one in imports))
    print("\nThird-party imports: ms of the package's own modules (with all they import first), heaviest first.")
    return 0


def is_door(function: str) -> bool:
    """Whether the function answers HTTP."""
    return any(isinstance(trigger, Route) for trigger in TOPOLOGY.function(function).triggers)


def start(function: str, variables: Mapping[str, str], runs: int) -> Start:
    """What fresh processes of the function take.  Raises: RuntimeError when one of them fails."""
    event = json.dumps(event_of(function))
    found = [
        json.loads(_run(["-m", "tests.bench.cold_process", function], variables, event).stdout) for _ in range(runs)
    ]
    refused = [one["status"] for one in found if one["status"] not in (None, 200, 202)]
    if refused:
        raise RuntimeError(f"{function} answered {refused}")
    parts = [
        tuple(median(one[part][which] for one in found) for which in (0, 1)) for part in ("imported", "first", "second")
    ]
    return Start(function, *parts)


def heaviest(function: str, variables: Mapping[str, str], runs: int) -> list[Import]:
    """The function's heaviest third-party imports, by the time of their own modules."""
    own: dict[str, float] = {}
    whole: dict[str, float] = {}
    for _ in range(runs):
        report = _run(["-X", "importtime", "-c", f"import functions.{function}.handler"], variables, "").stderr
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
    return sorted(found, key=lambda one: -one.own)[:_HEAVIEST]


def event_of(function: str) -> dict[str, Any]:
    """An event that the function handles whole: over HTTP a small call, else a wake-up for what is not there."""
    if function == "reflect_step":
        run = {"tenant_id": str(DEV_TENANT), "bank_id": _NOBODY, "run_id": _NOBODY, "turn": 0}
        return {"step": "fail", "run": run}
    if function == "sweep":
        return {}
    if function == "migrate":
        return {"RequestType": "Delete"}
    if function == "send":
        return {"Records": [_record(function, json.loads(order_to_text(_LATE)))]}
    if not is_door(function):
        ids = dict.fromkeys(("operation_id", "bank_id", "scope_id", "delivery_id"), _NOBODY)
        return {"Records": [_record(function, {"tenant_id": str(DEV_TENANT), **ids})]}
    method, path, body = _CALLS[function]
    event: dict[str, Any] = json.loads(_EVENT.read_text(encoding="utf-8"))
    event |= {"rawPath": path, "rawQueryString": "", "queryStringParameters": {}, "body": json.dumps(body)}
    event["headers"]["prefer"] = "respond-async"
    event["requestContext"]["http"] |= {"method": method, "path": path}
    return event


_LATE: Final = Order(
    Attempt(TenantId(DEV_TENANT), BankId(UUID(_NOBODY)), UUID(_NOBODY), fence=1),
    url="https://receiver.example/hook",
    http=HttpConfig(),
    headers={},
    body="{}",
    not_after=0.0,
)
"""An order whose time is over: read like any other, and sent to nobody."""

_CALLS: Final[Mapping[str, tuple[str, str, object]]] = {
    "recall": ("POST", f"{_BANK}/memories/recall", {"query": "Where does Ada live?"}),
    "retain": ("POST", f"{_BANK}/memories", {"items": [{"content": "Ada moved to Rome."}], "async": True}),
    "reflect": ("POST", f"{_BANK}/reflect", {"query": "Where does Ada live?"}),
    "admin": ("GET", f"{_BANK}/stats", None),
    "mcp": ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
}


def _record(queue: str, body: object) -> dict[str, Any]:
    return {
        "messageId": "cold",
        "receiptHandle": "r",
        "body": json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-central-1:000000000000:{queue}",
        "awsRegion": "eu-central-1",
    }


def _prepare(stack: LocalStack) -> None:
    """A bank that remembers something."""
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        items = {"items": [{"content": "Ada lives in Paris and works as a gardener."}]}
        client.post(f"{_BANK}/memories", json=items).raise_for_status()


def _run(arguments: Sequence[str], variables: Mapping[str, str], given: str) -> subprocess.CompletedProcess[str]:
    environment = {**variables, "PYTHONPATH": f"{variables['PYTHONPATH']}:{_REPOSITORY}"}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=_REPOSITORY,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr[-2_000:]}")
    return done


def _row(one: Start) -> Row:
    said = "; ".join(
        f"{what} {wall:.0f} ms, CPU {cpu:.0f}"
        for what, (wall, cpu) in (("import", one.imported), ("first event", one.first), ("next", one.second))
    )
    return Row(one.function, said, goal=f"import <= {one.goal} ms")
