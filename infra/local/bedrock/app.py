"""The endpoint's application: routes a request, lets a fault or a script step in, counts, and answers.

Served by `__main__`; calls `converse`, `titan`, `rerank`, `rules` and the controls. One ASGI callable, no framework.
"""

from __future__ import annotations

import asyncio
import json
import time
from urllib.parse import unquote

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock import rules, titan
from infra.local.bedrock.answers import Answer, cut, error, ok, refused
from infra.local.bedrock.batching import Batcher
from infra.local.bedrock.blocks import BrokenBlock, read_blocks
from infra.local.bedrock.converse import (
    MALFORMATIONS,
    Reply,
    Request,
    departures_of,
    malformed,
    read_request,
    refusal_of,
    write_reply,
)
from infra.local.bedrock.faults import Fault, FaultPlan, FaultSource
from infra.local.bedrock.rerank import rerank
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.scripted_vectors import ScriptedVectors
from infra.local.bedrock.scripts import Failure, Scripts, scripted_reply
from infra.local.bedrock.shapes import an_object
from infra.local.bedrock.speakers import RuleSpeaker, Speaker
from infra.local.bedrock.tally import Tally


class BedrockEndpoint:
    """Answers whole requests; holds the controls' state. `speaker` is the text model, the rules unless one is given."""

    def __init__(self, plan: FaultPlan, batcher: Batcher, speaker: Speaker | None = None) -> None:
        self.speaker = speaker or RuleSpeaker()
        self._faults = FaultSource(plan)
        self._batcher = batcher
        self._tally = Tally()
        self._scripts = Scripts()
        self._vectors = ScriptedVectors()

    async def handle(self, method: str, path: str, query: str, body: bytes) -> Answer:
        """The answer to one request; anything unknown is a 404, anything unreadable a 400."""
        try:
            document = an_object(json.loads(body)) if body else {}
        except (ValueError, RecursionError):
            return refused("The request body is not JSON.")
        if path.startswith("/__stub__/"):
            return self._control(method, path.removeprefix("/__stub__/"), query, document)
        if path in {"/", "/health"}:
            return ok({"status": "ok"})
        parts = path.strip("/").split("/")
        if path == "/rerank":
            return await self._rerank(document)
        if len(parts) == 3 and parts[0] == "model" and parts[2] == "converse":
            return await self._converse(unquote(parts[1]), document)
        if len(parts) == 3 and parts[0] == "model" and parts[2] == "invoke":
            return await self._invoke(unquote(parts[1]), document)
        return error(404, "UnknownOperationException", f"nothing answers {method} {path}")

    # controls -------------------------------------------------------------------------------------------------------

    def _control(self, method: str, name: str, query: str, document: JsonObject) -> Answer:
        if name == "stats":
            return ok(self._tally.stats(self._faults.plan.as_document()))
        if name == "requests":
            task = query.removeprefix("task=") if query.startswith("task=") else None
            return ok(self._tally.records(task))
        if name == "reset" and method == "POST":
            self._tally.reset()
            return ok({})
        if name == "script" and method == "POST":
            self._scripts.replace(document)
            return ok({})
        if name == "config" and method == "POST":
            try:
                self._faults.configure(document)
            except ValueError as reason:
                return refused(str(reason))
            return ok(self._faults.plan.as_document())
        return error(404, "UnknownOperationException", f"no control is called {method} {name}")

    # text -----------------------------------------------------------------------------------------------------------

    async def _converse(self, model: str, body: JsonObject) -> Answer:
        started = time.perf_counter()
        with self._tally.text_call():
            request = read_request(model, body)
            reason = refusal_of(request)
            if reason is not None:
                return self._refuse(reason)
            instead, fault = await self._struck()
            if instead is not None:
                return instead
            task = rules.task_of(request)
            try:
                material = Material(read_blocks(request.user_texts), tuple(request.results))
                reply = await self._reply(task, request, material)
            except (BrokenBlock, ValueError) as reason_why:
                return self._refuse(str(reason_why))
            self._remember(task, model, body, reply)
            if isinstance(reply, Failure):
                return cut() if reply.cut else error(reply.status, reply.kind, reply.message)
            if fault == "malformed":
                reply = malformed(reply, MALFORMATIONS[(self._tally.faults["malformed"] - 1) % len(MALFORMATIONS)])
            return await self._finish(task, request, reply, started)

    def _refuse(self, reason: str) -> Answer:
        self._tally.refused += 1
        return refused(reason)

    async def _reply(self, task: str | None, request: Request, material: Material) -> Reply | Failure:
        script = self._scripts.take(task)
        scripted = scripted_reply(script, request, material) if script is not None else None
        return scripted or await self.speaker.reply(task, request, material)

    async def _finish(self, task: str | None, request: Request, reply: Reply, started: float) -> Answer:
        await _pause(self._faults.text_latency_s(reply.output_tokens))
        self._tally.answered(task or "text", reply.input_tokens(request), reply.output_tokens)
        self._tally.departures.update(departures_of(request, task))
        number = sum(self._tally.calls.values())
        return ok(write_reply(reply, request, number, (time.perf_counter() - started) * 1000))

    def _remember(self, task: str | None, model: str, body: JsonObject, reply: Reply | Failure) -> None:
        said: JsonValue = None
        if isinstance(reply, Reply):
            said = {"text": reply.text, "tool": reply.tool, "input": reply.input, "stop": reply.stop}
        self._tally.seen.append({"task": task, "model": model, "request": body, "reply": said})

    # vectors and ranks ----------------------------------------------------------------------------------------------

    async def _invoke(self, model: str, body: JsonObject) -> Answer:
        try:
            request = titan.read_vector_request(model, body)
        except ValueError as reason:
            return self._refuse(str(reason))
        instead, fault = await self._struck()
        if instead is not None:
            return instead
        await _pause(self._faults.vector_latency_s())
        script = self._scripts.take("embed")
        if script is None:
            values = await titan.embed(request, self._batcher)
        else:
            scripted = self._scripted_vector(script, request)
            if isinstance(scripted, Answer):
                return scripted
            values = scripted
        if fault == "malformed":
            values = values[: len(values) // 2]
        self._tally.calls["embed"] += 1
        self._tally.tokens["embed_texts"] += 1
        self._tally.embedded.append(request.text)
        header = (b"x-amzn-bedrock-input-token-count", str(request.tokens).encode())
        return Answer(200, titan.write_vector(values, request.tokens), (header,))

    def _scripted_vector(self, script: JsonValue, request: titan.VectorRequest) -> list[str] | Answer:
        try:
            found = self._vectors.values(script, request.text, request.dimension)
        except ValueError as reason:
            return self._refuse(str(reason))
        if isinstance(found, Failure):
            return cut() if found.cut else error(found.status, found.kind, found.message)
        return found

    async def _rerank(self, body: JsonObject) -> Answer:
        instead, _ = await self._struck()
        if instead is not None:
            return instead
        await _pause(self._faults.vector_latency_s())
        try:
            ranked = rerank(body)
        except ValueError as reason:
            return self._refuse(str(reason))
        self._tally.calls["rerank"] += 1
        return ok(ranked)

    async def _struck(self) -> tuple[Answer | None, Fault | None]:
        """The answer of a fault that strikes this call, if one does; and which."""
        plan = self._faults.plan
        if 0 < plan.max_concurrent < self._tally.in_flight:
            self._tally.faults["quota"] += 1
            return error(429, "ThrottlingException", "Too many requests, please wait before trying again."), None
        fault = self._faults.draw()
        if fault is None:
            return None, None
        self._tally.faults[fault] += 1
        if fault == "throttle":
            return error(429, "ThrottlingException", "Too many requests, please wait before trying again."), fault
        if fault == "error":
            return error(503, "ServiceUnavailableException", "The service is unavailable."), fault
        if fault == "timeout":
            await asyncio.sleep(plan.timeout_s)
            return cut(), fault
        return None, fault


async def _pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)
