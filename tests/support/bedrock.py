"""The loopback Bedrock endpoint for tests: started once, told what to answer, asked what it saw."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx

import hindsight_aws
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelUsage

_SHARED = Path(hindsight_aws.__file__).parents[1]
QUIET: JsonObject = {
    "latency_ms": 0, "jitter_ms": 0, "per_output_token_ms": 0, "embed_latency_ms": 0, "throttle_rate": 0,
    "error_rate": 0, "malformed_rate": 0, "timeout_rate": 0, "timeout_s": 30, "max_concurrent": 0, "seed": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Bedrock:
    """The endpoint's controls."""

    url: str

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to find it."""
        return {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": self.url,
        }

    def clear(self) -> None:
        """Takes back every script and fault and zeroes the counters."""
        self.script({})
        self.config({**QUIET})
        self._send("reset", {})

    def script(self, replies: JsonObject) -> None:
        """Lays down replies per task, replacing earlier ones."""
        self._send("script", replies)

    def config(self, fields: JsonObject) -> None:
        """Sets latency and faults."""
        self._send("config", fields)

    def stats(self) -> JsonObject:
        """The counters."""
        return self._send("stats", None)

    def calls(self, task: str) -> int:
        """How many calls of a task were answered."""
        calls = self.stats()["calls"]
        count = calls.get(task, 0) if isinstance(calls, dict) else 0
        assert isinstance(count, int)
        return count

    def records(self, task: str | None = None) -> list[JsonObject]:
        """The Converse calls of a task, or of all, oldest first: `task`, `model`, `request`, `reply`."""
        records = self._send(f"requests?task={task}" if task else "requests", None)["requests"]
        assert isinstance(records, list)
        return [record for record in records if isinstance(record, dict)]

    def requests(self, task: str) -> list[JsonObject]:
        """The bodies of the Converse requests of a task, oldest first."""
        return [r["request"] for r in self.records(task) if isinstance(r["request"], dict)]

    def prompts(self, task: str) -> list[str]:
        """All texts of each of those requests, system included, joined."""
        return ["\n".join(_texts([r.get("system"), r.get("messages")])) for r in self.requests(task)]

    def embedded(self) -> list[str]:
        """The texts embedded last, oldest first."""
        texts = self._send("requests", None)["embedded"]
        assert isinstance(texts, list)
        return [text for text in texts if isinstance(text, str)]

    def _send(self, control: str, body: JsonObject | None) -> JsonObject:
        url = f"{self.url}/__stub__/{control}"
        answer = _client().get(url) if body is None else _client().post(url, json=body)
        answer.raise_for_status()
        document: JsonObject = answer.json()
        return document


@cache
def _client() -> httpx.Client:
    """One client for all controls: making one reads every certificate of the machine."""
    return httpx.Client(timeout=60)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        text = value.get("text")
        if isinstance(text, str):
            yield text
        for name, inner in value.items():
            if name != "text":
                yield from _texts(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@contextmanager
def running_bedrock() -> Iterator[Bedrock]:
    """A process of the endpoint on a free port, stopped afterwards."""
    search = os.pathsep.join([str(_SHARED.parent), str(_SHARED)])
    process = subprocess.Popen(
        [sys.executable, "-m", "infra.local.bedrock", "--port", "0"],
        cwd=_SHARED.parent, env={**os.environ, "PYTHONPATH": search}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("bedrock on http://"), first
        yield Bedrock(first.split()[2])
    finally:
        process.terminate()
        process.wait(timeout=60)
        if process.stdout is not None:
            process.stdout.close()


def unheeded(_record: ModelUsage) -> None:
    """A usage sink for tests that do not look at usage."""
