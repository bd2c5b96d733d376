"""Whatever a function tells of its work, in logs, metrics and spans, holds no word of a memory and no secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.aws.emf import EmfMetrics
from hindsight_aws.aws.invocation import Watch
from hindsight_aws.aws.otlp import request_of
from hindsight_aws.aws.xray import subsegment
from hindsight_aws.errors import FileUnreadable, ModelUnavailable
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.convert import convert
from hindsight_aws.jobs.deliver import deliver
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.links import tend_links
from hindsight_aws.jobs.message import each
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.send import send
from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.telemetry import Event, begin, measure_into, trace_into
from hindsight_aws.telemetry.logs import LogLines
from hindsight_aws.usage.metered import MeteredEmbedder, MeteredTextModel
from tests.support.api import Caller, FakeRuntime, make_caller
from tests.support.models import NotedWakeups
from tests.support.sweeping import sweep_once
from tests.support.telling import KeptSpans

WORD = "Quetzalcoatlus"
TEXT = f"The {WORD} nested on the cathedral's roof."
KEY = "hsk_" + "9f8e7d6c5b4a" * 3
JWT = ".".join(("ey" + "JhbGciOiJSUzI1NiJ9", "ey" + "JzdWIiOiJhbm5hIn0", "c2lnbmF0dXJlLW9mLWFubmE"))
SECRETS = (WORD, KEY, JWT, "c2lnbmF0dXJl")


class _Lines(logging.Handler):
    """Writes each record as it is written in the cloud and on a laptop."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines += [LogLines(as_json=as_json).format(record) for as_json in (True, False)]


@dataclass
class Told:
    """All that was told: log lines, lines of metrics, spans, and what handlers raised to Lambda."""

    logs: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    spans: KeptSpans = field(default_factory=KeptSpans)
    raised: list[str] = field(default_factory=list)

    def everything(self) -> str:
        exported = [json.dumps(subsegment(span)) for span in self.spans.ended]
        return "\n".join([*self.logs, *self.metrics, *exported, json.dumps(request_of(self.spans.ended)), *self.raised])


class Function:
    """Runs the events of one function after the other, as Lambda does."""

    def __init__(self, told: Told, watch: Watch) -> None:
        self._told, self._watch = told, watch

    def run(self, name: str, event: Callable[[], object]) -> None:
        """What it raises goes into Lambda's log."""
        try:
            self._watch.over(name)(lambda _event, _context: event())({"Records": []}, None)
        except Exception as error:  # noqa: BLE001 - Lambda writes down whatever is raised
            self._told.raised.append(f"{type(error).__name__}: {error}")


@pytest.fixture
def told(services: FakeRuntime) -> Iterator[Told]:
    """All that is told while the functions below do their work."""
    told = Told()
    root, ours = logging.getLogger(), logging.getLogger("hindsight_aws")
    levels, handler = (root.level, ours.level), _Lines(told.logs)
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    watch = Watch(EmfMetrics(told.metrics.append), told.spans, follows_callers=True)
    services.__dict__.update(text_model=MeteredTextModel(services.model), embedder=MeteredEmbedder(services.embedder))
    function = Function(told, watch)
    try:
        _answer_calls(services, function)
        _do_work(services, function)
        yield told
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
        measure_into(None)
        trace_into(None)
        begin(Event())


def _answer_calls(services: FakeRuntime, function: Function) -> None:
    call, bank = make_caller(services), "/v1/default/banks/aviary"
    items = [{"content": TEXT, "context": TEXT, "tags": [WORD], "metadata": {WORD: TEXT}, "entities": [{"text": WORD}]}]
    requests: list[tuple[str, str, object]] = [
        ("PUT", bank, {"mission": TEXT}),
        ("POST", f"{bank}/memories", {"items": items}),
        ("POST", f"{bank}/memories", {"items": items, "async": True}),
        ("POST", f"{bank}/memories", {"items": TEXT, WORD: TEXT}),
        ("POST", f"{bank}/memories", {"items": [{"content": TEXT, "timestamp": TEXT}]}),
        ("POST", f"{bank}/memories/recall", {"query": TEXT, "budget": WORD}),
        ("POST", f"{bank}/memories/recall", {"query": TEXT, "tags": [WORD]}),
        ("POST", f"{bank}/reflect", {"query": TEXT}),
        ("GET", f"/v1/default/banks/{WORD}/stats", None),
        ("PATCH", f"{bank}/config", {"updates": {"consolidation_strategies": [{WORD: TEXT}]}}),
    ]
    for method, path, body in requests:
        function.run("mcp", partial(call, method, path, body, {"prefer": "respond-async"}))
    for broken in (ValueError(TEXT), ModelUnavailable("no answer"), {"facts": TEXT}, {WORD: TEXT}):
        services.model.script = _answering(broken)
        function.run("retain", lambda: call("POST", f"{bank}/memories", {"items": [{"content": TEXT + uuid4().hex}]}))
    for secret in (KEY, JWT, f"{WORD}@{KEY}"):
        stranger = Caller(call.handler, secret)
        function.run("recall", partial(stranger, "GET", "/v1/default/banks", headers={"cookie": f"s={KEY}"}))


def _do_work(services: FakeRuntime, function: Function) -> None:
    jobs: dict[str, Callable[[str], Outcome]] = {
        "ingest": lambda body: ingest(services.retain_ports, body, 60),
        "links": lambda body: tend_links(services.link_ports, body, lambda: 60),
        "consolidate": lambda body: consolidate(services.consolidation_ports, body, lambda: 600, services.pages_door),
        "convert": lambda body: convert(services.conversion_ports, body, 60),
        "transfer": lambda body: transfer(services.transfer_ports, body, 60),
        "deliver": lambda body: deliver(services.deliver_ports, body),
        "send": lambda body: send(services.send_ports, body),
    }
    for name, job in jobs.items():
        for body in (TEXT, json.dumps({"tenant_id": TEXT}), json.dumps([KEY])):
            function.run(name, partial(each(job), body))
    for ids in _woken(services.noted):
        for broken in ({"creates": [{"text": TEXT}]}, {WORD: TEXT}, ValueError(TEXT)):
            services.model.script = _answering(broken)
            name = "ingest" if "operation_id" in ids else "consolidate"
            function.run(name, partial(each(jobs[name]), json.dumps(ids)))
    function.run("convert", lambda: _raise(FileUnreadable(f"{WORD}.pdf", "is empty")))
    function.run("sweep", lambda: sweep_once(services.store, NotedWakeups(), services.settings))


def _woken(noted: NotedWakeups) -> list[dict[str, str]]:
    operations = [
        {"tenant_id": str(tenant), "operation_id": str(operation)} for tenant, operation, _ in noted.operations
    ]
    scopes = [
        {"tenant_id": str(tenant), "bank_id": str(bank), "scope_id": str(scope)} for tenant, bank, scope in noted.scopes
    ]
    return [*operations, *scopes]


def _answering(answer: Any) -> Any:
    def script(_call: object) -> Any:
        if isinstance(answer, ValueError):
            raise answer
        return answer

    return script


def _raise(error: Exception) -> None:
    raise error


def test_nothing_told_of_any_function_holds_a_word_of_a_memory_or_a_secret(told: Told) -> None:
    lines = told.everything().splitlines()

    assert [line for line in lines if any(secret in line for secret in SECRETS)] == []
    _there_was_something_to_tell(told)


def _there_was_something_to_tell(told: Told) -> None:
    """Errors of each kind, calls of models that failed and that did not, operations on memories."""
    lines = [json.loads(line) for line in told.logs[::2]]
    words = {line.get("errorType") for line in lines} | {word for line in lines for word in _words(line["message"])}
    measured = {name for line in told.metrics for name in json.loads(line)}
    named = {span.name.partition(" ")[0] for span in told.spans.ended}

    assert {"ValueError", "ModelReplyMalformed"} <= words
    assert {"ModelCalls", "RefusedReplies", "ServerErrors", "OldestPendingFact", "FailedWork"} <= measured
    assert {"upsert_memory", "search_memory", "consolidate", "chat", "embeddings", "postgresql"} <= named
    assert "FileUnreadable" in "\n".join(told.raised)


def _words(message: str) -> list[str]:
    return message.replace(":", " ").split()
