"""Whole reflect runs in this process: the real workflow definition, the real steps on Postgres, a scripted model."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.reflect import run_step
from hindsight_aws.mental_models.ports import PagePorts
from hindsight_aws.mental_models.refresh.keeper import PageKeeper
from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.model_gateway import (
    JsonObject,
    ModelCall,
    ModelReply,
    ModelUsage,
    TokenUsage,
    ToolUse,
    UsageSink,
)
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.ports import ReflectDoor, ReflectPorts
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.reflect.tools.searches import RecallSearches
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from infra.local.workflow import Interpreter, StatesError, Timing, machines
from infra.local.workflow.payload import Json
from tests.support.database import Database
from tests.support.models import HashEmbedder
from tests.support.units import Unit, insert_units, make_bank
from tests.support.workflow import VirtualClock


@dataclass(frozen=True, slots=True)
class Said:
    """One reply of a model: tools with their input, and prose."""

    uses: tuple[tuple[str, JsonObject], ...] = ()
    text: str = ""
    ids: tuple[str, ...] = ()


Reply = Said | HindsightError | Callable[[ModelCall], Said]


def done(answer: str = "It is so.", *cited: str, found: bool = True) -> Said:
    """The model gives this answer with these aliases."""
    facts, observations = [c for c in cited if not c.startswith("o")], [c for c in cited if c.startswith("o")]
    said: JsonObject = {"answer": answer, "answer_found": found}
    return Said((("done", {**said, "memory_ids": [*facts], "observation_ids": [*observations]}),))


def uses(*tools: tuple[str, JsonObject]) -> Said:
    """The model uses these tools."""
    return Said(tools)


@dataclass(slots=True)
class SpokenModel:
    """A TextModel that says its replies in order, the last one again and again; `calls` are what it was asked."""

    replies: Sequence[Reply]
    calls: list[ModelCall] = field(default_factory=list)

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        reply = self.replies[min(len(self.calls), len(self.replies) - 1)]
        self.calls.append(call)
        tokens = TokenUsage(input=100, output=20, cache_read=7)
        failed = isinstance(reply, HindsightError)
        usage(ModelUsage(call.task, call.prompt, call.model, "unavailable" if failed else "ok", tokens, None, 5.0))
        if isinstance(reply, HindsightError):
            raise reply
        said = reply(call) if callable(reply) else reply
        ids = said.ids or tuple(f"tool-{index}" for index in range(len(said.uses)))
        renamed = [
            (call.forced_tool if name == "done" and call.forced_tool else name, given) for name, given in said.uses
        ]
        found = tuple(ToolUse(ids[index], name, given) for index, (name, given) in enumerate(renamed))
        return ModelReply(found, said.text, "tool_use" if found else "end_turn", tokens, 5.0, call.model)


@dataclass(slots=True)
class InlineWorkflows:
    """Runs a workflow whole when it is started, leaves it be (`runs` False), or refuses; `largest_payload` of all."""

    step: Callable[[JsonObject], JsonObject]
    runs: bool = True
    refusals: list[HindsightError] = field(default_factory=list)
    started: list[UUID] = field(default_factory=list)
    largest_payload: int = 0
    visited: list[str] = field(default_factory=list)

    def start_reflect(self, tenant_id: TenantId, bank_id: UUID, run_id: UUID) -> None:
        if self.refusals:
            raise self.refusals.pop()
        self.started.append(run_id)
        if self.runs:
            ids: JsonObject = {"tenant_id": str(tenant_id), "bank_id": str(bank_id), "run_id": str(run_id), "turn": 0}
            self.execute(ids)

    def execute(self, data: JsonObject) -> None:
        """One execution, its pauses skipped."""
        worker = threading.Thread(target=lambda: asyncio.run(self._execute(data)))
        worker.start()
        worker.join()

    async def _execute(self, data: JsonObject) -> None:
        async def invoke(_resource: str, event: Json) -> Json:
            assert isinstance(event, dict)
            try:
                return self.step(event)
            except HindsightError as error:
                cause = {"errorType": type(error).__name__, "errorMessage": str(error)}
                raise StatesError(type(error).__name__, json.dumps(cause)) from error

        interpreter = Interpreter(machines()["reflect"], invoke, Timing(VirtualClock(), lambda: 1.0))
        try:
            await interpreter.run(data)
        except StatesError as error:
            if error.name != "ReflectFailed":
                raise
        self.visited = interpreter.visited
        self.largest_payload = max(self.largest_payload, interpreter.meter.largest)


@dataclass(slots=True)
class Rig:
    """A bank to ask, and all that answers."""

    database: Database
    store: PostgresStore
    tenant: TenantId
    bank_id: BankId
    model: SpokenModel
    settings: Settings = field(default_factory=Settings)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    bank: str = "bank"
    woken: list[tuple[TenantId, BankId]] = field(default_factory=list)
    """Banks whose refreshes the steps woke."""
    clock: Clock = field(default_factory=SystemClock)
    workflows: InlineWorkflows = field(init=False)

    def __post_init__(self) -> None:
        self.workflows = InlineWorkflows(self.step)

    def step(self, event: JsonObject) -> JsonObject:
        """One step of a run, as its worker takes it."""
        return run_step(self.ports, event, lambda *bank: self.woken.append(bank))

    @property
    def ports(self) -> ReflectPorts:
        """What the steps are given."""
        searches = RecallSearches(self.store, self.embedder, None, self.settings, self.clock)
        pages = PageKeeper(PagePorts(self.store, self.embedder, self.settings))
        return ReflectPorts(self.store, self.model, searches, self.settings, pages, self.clock)

    @property
    def door(self) -> ReflectDoor:
        """What the API is given."""
        return ReflectDoor(self.store, self.workflows, self.settings, self.clock)

    @property
    def principal(self) -> Principal:
        """A caller who may do everything."""
        return Principal(self.tenant, "dev")

    def ask(self, request: ReflectRequest, principal: Principal | None = None) -> Run:
        """Asks the bank and waits for the end of the run."""
        caller = principal or self.principal
        return runs.wait(self.door, caller, runs.submit(self.door, caller, self.bank, request), 0.5)

    def answer(self, request: ReflectRequest, principal: Principal | None = None) -> JsonObject:
        """The answer of a run that must succeed."""
        run = self.ask(request, principal)
        assert run.status == "completed", (run.status, run.error, run.error_message)
        assert run.answer is not None
        return run.answer

    def remember(self, *units: Unit) -> None:
        """Puts memories into the bank, with vectors of their words."""
        texts = [unit.text for unit in units]
        vectors = self.embedder.embed(texts, "document", lambda _: None)
        filled = [_with_vector(unit, list(found.values)) for unit, found in zip(units, vectors, strict=True)]
        insert_units(self.database.admin_url, self.tenant, self.bank_id, filled)

    def find(self, run_id: RunId) -> Run:
        """The run's row as it is."""
        with self.store.transaction(self.tenant) as tx:
            run = tx.reflect.find(self.bank_id, run_id)
        assert run is not None
        return run


def make_rig(
    database: Database, store: PostgresStore, tenant: TenantId, *replies: Reply, bank: str = "bank", **settings: object
) -> Rig:
    """A rig on an empty bank."""
    chosen = Settings().model_copy(update=settings)
    bank_id = make_bank(database.admin_url, tenant, bank)
    return Rig(database, store, tenant, bank_id, SpokenModel(replies), chosen, bank=bank)


def _with_vector(unit: Unit, vector: list[float]) -> Unit:
    from dataclasses import replace

    return replace(unit, vector=vector)
