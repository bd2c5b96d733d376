"""`make smoke URL=… KEY=…`: has a deployment do once what it is for, and deletes what that made.

Run by people and by the customer's pipeline, against any deployment or the local stack, with the standard library
alone.  What a deployment has switched off (files, MCP) is said to be off and is no failure.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from infra.smoke_calls import Absent, Deployment, SmokeError

__all__ = ["SmokeError", "Step", "main", "smoke"]

_SYNC: Final = "Mina moved the launch to Thursday because the caterer cancelled."
_ASYNC: Final = "Mina told the venue that the launch is on Thursday."
_FILE: Final = "The caterer of the launch is Oven and Vine."
_QUESTION: Final = "When is the launch?"
_TAGS: Final = ["smoke:test"]
_FILES: Final = "file becomes memory"
_MCP: Final = "MCP lists tools"
_MAY_BE_OFF: Final = frozenset({_FILES, _MCP})
_PATIENCE: Final = 120.0
"""How long queues, workers and a paused database may take, each time."""
_PAUSES: Final = (0.1, 0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was tried: its name, how long it took in seconds, and what came of it."""

    name: str
    seconds: float
    outcome: str = "ok"


@dataclass(slots=True)
class _Smoke:
    """One bank that lives for as long as this takes."""

    deployment: Deployment
    bank: str = field(default_factory=lambda: f"smoke-{uuid4().hex[:12]}")

    @property
    def steps(self) -> list[tuple[str, Callable[[], object]]]:
        """What is tried, in order; each may raise SmokeError, or Absent for what is switched off."""
        return [
            ("health", self._health),
            ("version", self._version),
            ("bank is made", self._make),
            ("retain, at once", self._retain),
            ("retain, by the queue", self._retain_async),
            ("recall finds it", self._recall),
            ("observation with evidence", self._observe),
            ("reflect with a citation", self._reflect),
            (_FILES, self._file),
            (_MCP, self._mcp),
        ]

    def delete(self) -> None:
        """The bank and all that is in it; one that was never made counts as deleted."""
        try:
            self._call("DELETE", "")
        except Absent:
            return

    def _call(self, method: str, path: str, body: object = None) -> Any:
        return self.deployment.call(method, f"/v1/default/banks/{self.bank}{path}", body)

    def _health(self) -> None:
        _require(self.deployment.call("GET", "/health"), "health says nothing")

    def _version(self) -> None:
        _require(self.deployment.call("GET", "/version").get("api_version"), "version names no version")

    def _make(self) -> None:
        self._call("PUT", "", {})

    def _retain(self) -> None:
        item = {"content": _SYNC, "tags": _TAGS, "document_id": "smoke"}
        answer = self._call("POST", "/memories", {"items": [item]})
        if answer.get("async"):  # it would not have ended within the gateway's time
            self._wait_for(answer["operation_id"])

    def _retain_async(self) -> None:
        answer = self._call("POST", "/memories", {"items": [{"content": _ASYNC, "tags": _TAGS}], "async": True})
        self._wait_for(answer["operation_id"])

    def _recall(self) -> None:
        found = self._call("POST", "/memories/recall", {"query": _QUESTION})["results"]
        _require(any("Thursday" in each["text"] for each in found), "recall does not find what was retained")

    def _observe(self) -> None:
        self._call("POST", "/consolidate", {})
        for _ in _patiently("no observation came of the facts"):
            for observation in self._call("GET", "/memories/list?type=observation")["items"]:
                if self._call("GET", f"/memories/{observation['id']}").get("evidence"):
                    return

    def _reflect(self) -> None:
        answer = self._call("POST", "/reflect", {"query": _QUESTION, "include": {"facts": {}}})
        _require(answer.get("text"), "reflect answers nothing")
        _require((answer.get("based_on") or {}).get("memories"), "the answer of reflect cites nothing")

    def _file(self) -> None:
        answer = self.deployment.upload(f"/v1/default/banks/{self.bank}/files/retain", "smoke.txt", _FILE.encode())
        operation = self._wait_for(answer["operation_ids"][0])
        self._wait_for(operation["result_metadata"]["retain_operation_id"])

    def _mcp(self) -> None:
        tools = self.deployment.ask_mcp(f"/mcp/{self.bank}/", "tools/list")["tools"]
        _require("recall" in {tool["name"] for tool in tools}, "MCP has no tool `recall`")

    def _wait_for(self, operation_id: str) -> Any:
        for _ in _patiently(f"operation {operation_id} does not end"):
            operation = self._call("GET", f"/operations/{operation_id}")
            if operation["status"] == "completed":
                return operation
            if operation["status"] in {"failed", "cancelled", "not_found"}:
                raise SmokeError(f"operation {operation_id} is {operation['status']}: {operation.get('error_message')}")
        raise AssertionError  # _patiently ends by raising


def smoke(url: str, key: str | None, say: Callable[[Step], object], *, without: Collection[str] = ()) -> None:
    """Tries everything in order, and deletes the bank whatever came of it.

    `without` names steps to leave out.  Raises: SmokeError at the first failure.
    """
    trial = _Smoke(Deployment(url, key))
    failed: SmokeError | None = None
    try:
        for name, step in trial.steps:
            if name in without:
                continue
            try:
                say(_timed(name, step))
            except SmokeError as wrong:
                failed = SmokeError(f"{name}: {wrong}")
                break
    finally:
        try:
            say(_timed("bank is deleted", trial.delete))
        except SmokeError as wrong:
            failed = failed or SmokeError(f"bank {trial.bank} is left behind: {wrong}")
    if failed is not None:
        raise failed


def _timed(name: str, step: Callable[[], object]) -> Step:
    started = time.monotonic()
    try:
        step()
    except Absent:
        if name not in _MAY_BE_OFF:
            raise
        return Step(name, time.monotonic() - started, "not served here")
    return Step(name, time.monotonic() - started)


def _show(step: Step) -> None:
    sys.stdout.write(f"{step.name:<28}{step.seconds:>7.2f} s  {step.outcome}\n")
    sys.stdout.flush()


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise SmokeError(otherwise)


def _patiently(otherwise: str) -> Iterator[None]:
    """Turns, ever further apart.  Raises SmokeError when patience has run out."""
    until = time.monotonic() + _PATIENCE
    turn = 0
    while time.monotonic() < until:
        yield
        time.sleep(_PAUSES[min(turn, len(_PAUSES) - 1)])
        turn += 1
    raise SmokeError(f"{otherwise} within {_PATIENCE:.0f} s")


def main() -> int:
    """Takes the address as its argument and the key from the environment; 1 and a sentence on failure."""
    url = sys.argv[1] if len(sys.argv) > 1 else ""
    if not url.startswith(("https://", "http://")):
        sys.stderr.write("Say where: make smoke URL=https://… KEY=hsk_…\n")
        return 1
    try:
        smoke(url, os.environ.get("KEY"), _show)
    except SmokeError as wrong:
        sys.stderr.write(f"FAILED  {wrong}\n")
        return 1
    except json.JSONDecodeError as wrong:
        sys.stderr.write(f"FAILED  what answers there is no hindsight-aws: {wrong}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
