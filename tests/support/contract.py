"""A bank with one of everything, the routes of all functions, and the ids that each operation is called with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from jsonschema import Draft202012Validator

from hindsight_aws.api.documentation.document import document
from hindsight_aws.api.documentation.refusals import SCHEMAS
from hindsight_aws.jobs.reflect import run_step
from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.mental_models.ports import PagePorts
from hindsight_aws.mental_models.refresh.keeper import PageKeeper
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.reflect.ports import ReflectDoor, ReflectPorts
from hindsight_aws.reflect.tools.searches import RecallSearches
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import UNSET, Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.calls import Ids, ids_of
from tests.support.database import Database
from tests.support.golden import FOLDER
from tests.support.reflect import InlineWorkflows, Said, SpokenModel, done
from tests.support.refreshing import page, ready
from tests.support.seed import seed_bank

BANK = "garden"
MARK = "Zoe"
BANKS = "/v1/default/banks"
DOCUMENT = "diary/2026-05"
_MAY_SAY_MORE = SCHEMAS["Error"]["description"]
_DIARY = {"content": "Noor planted two pear trees.", "document_id": DOCUMENT, "tags": ["place:garden"]}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document: its id, its way, and what it says of itself."""

    id: str
    method: str
    path: str
    says: Mapping[str, Any]

    @property
    def request(self) -> object:
        """The example of its body; UNSET where it takes none."""
        for media in self.says.get("requestBody", {}).get("content", {}).values():
            return media.get("example", UNSET)
        return UNSET

    @property
    def query(self) -> str:
        """The example of its query, with its question mark; nothing where it needs none."""
        return _query_of(self.says.get("parameters", ()))

    def parameters(self, place: str) -> list[str]:
        """The names of its parameters in the path, the query or the headers."""
        return [each["name"] for each in self.says.get("parameters", ()) if each["in"] == place]


def _query_of(parameters: Iterable[Mapping[str, Any]]) -> str:
    said = [(each["name"], each["example"]) for each in parameters if each["in"] == "query" and "example" in each]
    return f"?{urlencode(said)}" if said else ""


def operations(of: Mapping[str, Any]) -> Iterator[Operation]:
    """Every operation of a document."""
    for path, methods in of["paths"].items():
        for method, says in methods.items():
            yield Operation(says["operationId"], method.upper(), path, says)


@cache
def ours() -> dict[str, Operation]:
    """Our operations, by id, as the routes are now."""
    return {operation.id: operation for operation in operations(_whole())}


@cache
def theirs() -> dict[str, Operation]:
    """The operations of the contract, by id."""
    return {operation.id: operation for operation in operations(json.loads(published().read_text("utf-8")))}


def published() -> Path:
    """The contract's own document."""
    return FOLDER / "openapi.json"


def documented_errors(operation: Operation, answer: Answer) -> list[str]:
    """In what an answer differs from what our document says; a field that it does not name is such a thing."""
    response = _resolved(operation.says["responses"].get(str(answer.status)))
    if response is None:
        return [f"status {answer.status} is not documented"]
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return []
    validator = Draft202012Validator({**_closed(schema), "components": _closed_parts()})
    errors = validator.iter_errors(answer.json())
    return [f"{'/'.join(map(str, error.path))}: {error.message}"[-300:] for error in errors]


def _resolved(response: Any) -> Any:
    if response is not None and "$ref" in response:
        return _whole()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return response


def _closed(schema: Any) -> Any:
    """The schema, with objects that name their fields made to have no others."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(part) for key, part in schema.items()}
    is_open = "additionalProperties" in closed or schema.get("description") == _MAY_SAY_MORE
    return closed if is_open or "properties" not in closed else {**closed, "additionalProperties": False}


@cache
def _closed_parts() -> Any:
    return _closed(_whole()["components"])


@cache
def _whole() -> Any:
    return document()


class World:
    """A tenant with a bank; every model answers at once, and every workflow runs whole when it is started."""

    def __init__(self, database: Database, store: PostgresStore, tenant: TenantId, **settings: object) -> None:
        self._database, self._tenant = database, tenant
        self.services: FakeRuntime = make_services(
            store,
            tenant,
            hindsight_api_enable_bank_llm_health=True,
            hindsight_reflect_url_wait_seconds=2.0,
            **settings,
        )
        answer_at_once(self.services)
        self.call: Caller = make_caller(self.services)
        self._made = 0
        self.ids = self._seeded(BANK, MARK)

    def ask(self, operation: Operation) -> Answer:
        """What the operation answers to its own example: reads of the one bank, all others on a bank of their own."""
        ids = self.ids_for(operation)
        path = operation.path.format(**ids) + operation.query
        form = _FORMS.get(operation.id)
        if form is not None:
            sent = httpx.Request("POST", "https://api.example", **form(self, ids["bank_id"]))
            return self.call("POST", path, raw=sent.read(), headers={"content-type": sent.headers["content-type"]})
        body = operation.request
        if body is not UNSET:
            body = json.loads(json.dumps(body).replace(f'"{BANK}"', f'"{ids["bank_id"]}"'))
        return self.call(operation.method, path, body)

    def with_settings(self, **settings: object) -> Caller:
        """A client of the same tenant where these settings are others."""
        services = make_services(self.services.store, self._tenant, **settings)
        return make_caller(services)

    def exported(self, bank: str) -> str:
        """The key of an archive of the bank."""
        told = self.call("POST", f"{BANKS}/{bank}/transfer/export").json()
        transfer(
            self.services.transfer_ports,
            json.dumps({"tenant_id": str(self._tenant), "operation_id": told["operation_id"]}),
            60.0,
        )
        ended = self.call("GET", f"{BANKS}/{bank}/operations/{told['operation_id']}").json()
        return str(ended["result_metadata"]["storage_key"])

    def ids_for(self, operation: Operation) -> Ids:
        """What the words in braces of its path stand for."""
        if operation.method == "GET" and operation.id not in _PREPARED:
            return self.ids
        return self._own(operation.id)

    def _own(self, operation_id: str) -> Ids:
        self._made += 1
        bank = f"{BANK}-{self._made}"
        ids = self._seeded(bank, f"{MARK}-{self._made}")
        prepare = _PREPARED.get(operation_id)
        return {**ids, **prepare(self, bank)} if prepare else ids

    def _seeded(self, bank: str, mark: str) -> Ids:
        seeded = seed_bank(self._database, self._tenant, bank, mark)
        reads = {"memory_id": str(seeded.observation if bank == BANK else seeded.fact)}
        return {**ids_of(seeded), **reads}


def answer_at_once(services: FakeRuntime) -> None:
    """Has reflect runs and refreshes run whole, by a model that says the first thing that comes to mind."""
    store, settings = services.store, services.settings
    pages = PageKeeper(PagePorts(store, services.embedder, settings))
    searches = RecallSearches(store, services.embedder, None, settings, services.clock)
    ports = ReflectPorts(store, SpokenModel([_reply]), searches, settings, pages, services.clock)
    workflows = InlineWorkflows(lambda event: run_step(ports, event, lambda *_bank: None))
    services.__dict__["reflect_door"] = ReflectDoor(store, workflows, settings, services.clock)


def _reply(call: ModelCall) -> Said:
    """The first answer that comes to mind: it rests on the first fact that was shown."""
    if call.task != "reflect_turn":
        return page("Pears grow behind the shed.", cites=("f1",))
    is_refresh = any(tool.name == "answer_ready" for tool in call.tools)
    return ready() if is_refresh else done("Zoe keeps bees and could tell the class.", "f1")


def _retained(world: World, bank: str) -> Ids:
    """A document that was retained by a call."""
    world.call("POST", f"{BANKS}/{bank}/memories", {"items": [_DIARY]})
    return {"document_id": DOCUMENT}


def _waiting(world: World, bank: str) -> Ids:
    """An operation that nobody has worked on."""
    told = world.call("POST", f"{BANKS}/{bank}/memories", {"items": [_DIARY], "async": True}).json()
    return {"operation_id": told["operation_id"]}


def _cancelled(world: World, bank: str) -> Ids:
    """An operation that can begin anew."""
    ids = _waiting(world, bank)
    world.call("DELETE", f"{BANKS}/{bank}/operations/{ids['operation_id']}")
    return ids


def _erased(world: World, bank: str) -> Ids:
    """The receipt of an erasure."""
    told = world.call("POST", f"{BANKS}/{bank}/erasures", {"tags": ["user:a"]}).json()
    return {"erasure_id": told["statement"]["receipt"]}


def _archived(world: World, bank: str) -> Ids:
    """The file of an export."""
    return {"key": world.exported(bank)}


def _archive(world: World, bank: str) -> dict[str, Any]:
    body = world.services.stored.objects[world.exported(bank)]
    return {"files": {"file": ("garden.zip", body, "application/zip")}}


def _file(_world: World, _bank: str) -> dict[str, Any]:
    return {"data": {"request": "{}"}, "files": {"files": ("plan.txt", b"Noor waters the pears.", "text/plain")}}


_FORMS: Mapping[str, Callable[[World, str], dict[str, Any]]] = {
    "file_retain": _file,
    "import_documents": _archive,
    "import_bank_transfer": _archive,
}

_PREPARED: Mapping[str, Callable[[World, str], Ids]] = {
    "reprocess_document": _retained,
    "update_document": _retained,
    "delete_document": _retained,
    "cancel_operation": _waiting,
    "retry_operation": _cancelled,
    "get_erasure": _erased,
    "download_file": _archived,
}
