"""Every route answers ids of another tenant, and banks the key does not cover, as ids of nothing at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

import pytest
from fastapi.routing import APIRoute

from hindsight_aws.api.app import GROUPS, routers
from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import UNSET, Answer, Caller, make_key
from tests.support.database import Database, make_tenant
from tests.support.seed import Seeded, fingerprint, seed_bank

BANK = "/v1/default/banks/{bank_id}"
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{}\r\n'
    b'--b\r\nContent-Disposition: form-data; name="files"; filename="plants.txt"\r\n\r\nAlice waters.\r\n--b--\r\n'
)
MCP = ("POST /mcp", "POST /mcp/", "POST /mcp/{bank_id}", "POST /mcp/{bank_id}/")
RECALL_BY_TOOL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "recall", "arguments": {"query": "bees", "bank_id": "{bank_id}"}},
}
"""Every tool is put to the same tests in test_mcp.py."""
TABLE: Mapping[str, object] = {
    "GET /v1/default/banks": UNSET,
    f"PUT {BANK}": {"name": "n"},
    f"PATCH {BANK}": {"name": "n"},
    f"DELETE {BANK}": UNSET,
    f"GET {BANK}/profile": UNSET,
    f"PUT {BANK}/profile": {"disposition": {"skepticism": 5, "literalism": 1, "empathy": 1}},
    f"POST {BANK}/background": {"content": "You look after bees."},
    f"POST {BANK}/health/llm": UNSET,
    f"GET {BANK}/audit-logs": UNSET,
    f"GET {BANK}/audit-logs/stats": UNSET,
    f"GET {BANK}/audit-logs/{{log_id}}": UNSET,
    f"GET {BANK}/export": UNSET,
    f"POST {BANK}/import": {"version": "1", "directives": [{"name": "n", "content": "c"}]},
    f"GET {BANK}/aliases": UNSET,
    f"POST {BANK}/aliases": {"alias": "another name"},
    f"PATCH {BANK}/aliases/{{alias}}": {"primary": True},
    f"DELETE {BANK}/aliases/{{alias}}": UNSET,
    f"POST {BANK}/prompts/preview": {"operation": "reflect"},
    f"GET {BANK}/config": UNSET,
    f"PATCH {BANK}/config": {"updates": {"retain_mission": "m"}},
    f"DELETE {BANK}/config": UNSET,
    f"POST {BANK}/memories": {"items": [{"content": "Alice waters the plants.", "document_id": "{document_id}"}]},
    f"POST {BANK}/memories/dry-run-extract": {"content": "Alice waters the plants."},
    f"POST {BANK}/memories/recall": {"query": "bees"},
    "POST /v1/default/recall": {"query": "bees", "banks": ["{bank_id}"]},
    f"POST {BANK}/reflect": {"query": "bees"},
    f"DELETE {BANK}/memories": UNSET,
    f"DELETE {BANK}/observations": UNSET,
    f"PATCH {BANK}/memories/{{memory_id}}": {"state": "invalidated"},
    f"DELETE {BANK}/memories/{{memory_id}}": UNSET,
    f"DELETE {BANK}/memories/{{memory_id}}/observations": UNSET,
    f"POST {BANK}/files/retain": FORM,
    f"POST {BANK}/files/uploads": {"filename": "plants.txt", "size": 5},
    f"GET {BANK}/memories/list": UNSET,
    f"GET {BANK}/memories/{{memory_id}}": UNSET,
    f"GET {BANK}/memories/{{memory_id}}/history": UNSET,
    f"GET {BANK}/attachments/{{attachment_id}}": UNSET,
    f"GET {BANK}/llm-requests": UNSET,
    f"GET {BANK}/llm-requests/stats": UNSET,
    "GET /v1/default/files/download/{key:path}": UNSET,
    f"GET {BANK}/documents": UNSET,
    f"GET {BANK}/documents/{{document_id:path}}": UNSET,
    f"GET {BANK}/documents/{{document_id:path}}/chunks": UNSET,
    f"GET {BANK}/documents/{{document_id:path}}/history": UNSET,
    f"POST {BANK}/documents/{{document_id:path}}/reprocess": UNSET,
    f"PATCH {BANK}/documents/{{document_id:path}}": {"tags": ["t"]},
    f"DELETE {BANK}/documents/{{document_id:path}}": UNSET,
    "GET /v1/default/chunks/{chunk_id:path}": UNSET,
    f"GET {BANK}/entities": UNSET,
    f"GET {BANK}/entities/graph": UNSET,
    f"GET {BANK}/entities/{{entity_id}}": UNSET,
    f"POST {BANK}/entities/{{entity_id}}/regenerate": UNSET,
    f"GET {BANK}/tags": UNSET,
    f"GET {BANK}/operations": UNSET,
    f"GET {BANK}/operations/{{operation_id}}": UNSET,
    f"DELETE {BANK}/operations/{{operation_id}}": UNSET,
    f"POST {BANK}/operations/{{operation_id}}/retry": UNSET,
    f"DELETE {BANK}/operations/{{operation_id}}/delete": UNSET,
    f"GET {BANK}/stats": UNSET,
    f"GET {BANK}/stats/memories-timeseries": UNSET,
    f"GET {BANK}/graph": UNSET,
    f"GET {BANK}/usage": UNSET,
    f"POST {BANK}/consolidate": UNSET,
    f"POST {BANK}/consolidation/recover": UNSET,
    f"POST {BANK}/consolidation-strategies/preview": {"strategies": []},
    f"POST {BANK}/consolidation/rebuild": UNSET,
    f"GET {BANK}/consolidation/runs": UNSET,
    f"GET {BANK}/consolidation/suggestions": UNSET,
    f"POST {BANK}/consolidation/runs/{{run_id}}/revert": UNSET,
    f"GET {BANK}/observations/scopes": UNSET,
    f"GET {BANK}/directives": UNSET,
    f"POST {BANK}/directives": {"name": "n", "content": "c"},
    f"GET {BANK}/directives/{{directive_id}}": UNSET,
    f"PATCH {BANK}/directives/{{directive_id}}": {"content": "c"},
    f"DELETE {BANK}/directives/{{directive_id}}": UNSET,
    f"GET {BANK}/webhooks": UNSET,
    f"POST {BANK}/webhooks": {"url": "https://example.com/hook"},
    f"PATCH {BANK}/webhooks/{{webhook_id}}": {"enabled": False},
    f"DELETE {BANK}/webhooks/{{webhook_id}}": UNSET,
    f"GET {BANK}/webhooks/{{webhook_id}}/deliveries": UNSET,
    f"GET {BANK}/mental-models": UNSET,
    f"POST {BANK}/mental-models": {"id": "new", "name": "n", "source_query": "Who?"},
    f"GET {BANK}/mental-models/{{mental_model_id}}": UNSET,
    f"PATCH {BANK}/mental-models/{{mental_model_id}}": {"name": "n"},
    f"DELETE {BANK}/mental-models/{{mental_model_id}}": UNSET,
    f"POST {BANK}/mental-models/{{mental_model_id}}/refresh": UNSET,
    f"POST {BANK}/mental-models/{{mental_model_id}}/dry-run-refresh": UNSET,
    f"POST {BANK}/mental-models/{{mental_model_id}}/clear": UNSET,
    f"GET {BANK}/mental-models/{{mental_model_id}}/history": UNSET,
    **dict.fromkeys(MCP, RECALL_BY_TOOL),
}
NO_IDS = {
    "GET /health", "GET /health/ready", "GET /health/live", "GET /version", "GET /v1/version", "GET /metrics",
    "GET /v1/bank-template-schema", f"GET {BANK}/document-transfer",
}  # fmt: skip
"""What asks for no key and looks at no bank."""
WRONG_VERBS = {f"{verb} {BANK}/memories" for verb in ("GET", "PUT", "PATCH")}
READS = {
    f"POST {BANK}/memories/recall",
    "POST /v1/default/recall",
    f"POST {BANK}/consolidation-strategies/preview",
    f"POST {BANK}/prompts/preview",
    *MCP,
}
HEADERS = {"prefer": "respond-async"}

Ids = dict[str, str]


@dataclass(frozen=True, slots=True)
class Scene:
    """A victim with one of everything, and an attacker of another tenant with a bank of their own."""

    database: Database
    owner_store: PostgresStore
    victim: Seeded
    own: Seeded
    attacker: Caller

    def limited(self, **limits: object) -> Caller:
        """The attacker with a key that may do less."""
        return Caller(self.attacker.handler, make_key(self.owner_store, self.own.tenant, **limits))


@pytest.fixture(scope="module")
def victim(module_database: Database) -> Seeded:
    return seed_bank(module_database, make_tenant(module_database, "victim"), "bank-of-victim", "Xanthippe")


@pytest.fixture
def scene(module_database: Database, owner_store: PostgresStore, handler: LambdaHandler, victim: Seeded) -> Scene:
    attacker = make_tenant(module_database, "attacker")
    own = seed_bank(module_database, attacker, "bank-of-attacker", "Yorick")
    caller = Caller(handler, make_key(owner_store, attacker))
    return Scene(module_database, owner_store, victim, own, caller)


def test_every_route_has_a_row_in_the_table() -> None:
    served = {
        f"{method} {route.path}"
        for router in routers(GROUPS)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }

    assert served == set(TABLE) | NO_IDS | WRONG_VERBS


@pytest.mark.parametrize("route", TABLE)
def test_another_tenants_bank_answers_as_a_bank_that_is_not_there(scene: Scene, route: str) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)
    foreign, unknown = _ids(scene.victim), _unknown_ids()

    answers = [_anonymous(_ask(scene.attacker, route, ids), ids) for ids in (foreign, unknown)]

    assert answers[0] == answers[1]
    assert "Xanthippe" not in str(answers[0])
    assert fingerprint(scene.database, scene.victim.tenant) == before


@pytest.mark.parametrize("route", [route for route in TABLE if "_id" in route.replace("{bank_id}", "")])
def test_another_tenants_things_in_ones_own_bank_answer_as_things_that_are_not_there(scene: Scene, route: str) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)
    foreign = _ids(scene.victim) | {"bank_id": scene.own.bank}
    unknown = _unknown_ids() | {"bank_id": scene.own.bank}

    answers = [_anonymous(_ask(scene.attacker, route, ids), ids) for ids in (foreign, unknown)]

    assert answers[0] == answers[1]
    assert fingerprint(scene.database, scene.victim.tenant) == before


@pytest.mark.parametrize("route", TABLE)
def test_a_bank_the_key_does_not_cover_answers_as_one_that_is_not_there(scene: Scene, route: str) -> None:
    limited = scene.limited(bank_patterns=("other-*",))
    before = fingerprint(scene.database, scene.own.tenant)
    hidden, unknown = _ids(scene.own), _unknown_ids() | {"bank_id": "bank-of-nobody"}

    answers = [_anonymous(_ask(limited, route, ids), ids) for ids in (hidden, unknown)]

    assert answers[0] == answers[1]
    assert "Yorick" not in str(answers[0])
    assert fingerprint(scene.database, scene.own.tenant) == before


@pytest.mark.parametrize("route", TABLE)
def test_without_a_valid_key_a_route_answers_401_and_changes_nothing(scene: Scene, route: str) -> None:
    before = fingerprint(scene.database, scene.own.tenant)
    stranger = Caller(scene.attacker.handler, "hsk_" + "A" * 43)

    answer = _ask(stranger, route, _ids(scene.own))

    assert answer.status == 401
    assert answer.json() == {"error" if route in MCP else "detail": "Authentication failed: the API key is not valid"}
    assert fingerprint(scene.database, scene.own.tenant) == before


@pytest.mark.parametrize("route", [route for route in TABLE if not route.startswith("GET") and route not in READS])
def test_a_key_that_may_only_read_changes_nothing(scene: Scene, route: str) -> None:
    reader = scene.limited(permissions=frozenset({Permission.READ}))
    before = fingerprint(scene.database, scene.own.tenant)

    answer = _ask(reader, route, _ids(scene.own))

    if "reflect" not in route:
        assert answer.status == 403
        assert fingerprint(scene.database, scene.own.tenant) == before


@pytest.mark.parametrize("route", [route for route in TABLE if route.startswith("GET")])
def test_a_key_that_may_only_write_reads_nothing(scene: Scene, route: str) -> None:
    writer = scene.limited(permissions=frozenset({Permission.WRITE}))

    answer = _ask(writer, route, _ids(scene.own))

    assert answer.status == 403
    assert "Yorick" not in answer.body.decode()


def _ids(seeded: Seeded) -> Ids:
    return {
        "bank_id": seeded.bank,
        "memory_id": str(seeded.observation),
        "document_id": seeded.document,
        "entity_id": str(seeded.entity),
        "operation_id": str(seeded.operation),
        "run_id": str(seeded.run),
        "directive_id": str(seeded.directive),
        "webhook_id": str(seeded.webhook),
        "mental_model_id": seeded.mental_model,
        "chunk_id": chunk_id(seeded.bank, seeded.document, 0),
        "attachment_id": "0123456789ab",
        "alias": f"alias-{seeded.mark}",
        "log_id": str(seeded.log),
        "key": f"banks/{seeded.bank}/archive.zip",
    }


def _unknown_ids() -> Ids:
    things = {
        name: str(uuid4())
        for name in ("memory_id", "entity_id", "operation_id", "run_id", "directive_id", "webhook_id")
    }
    return {
        "bank_id": "bank-of-nobody",
        "document_id": "doc/nothing",
        "mental_model_id": "page-of-nobody",
        "chunk_id": chunk_id("bank-of-nobody", "doc/nothing", 0),
        "attachment_id": "ba9876543210",
        "alias": "alias-of-nobody",
        "log_id": str(uuid4()),
        "key": "banks/bank-of-nobody/archive.zip",
        **things,
    }


def _ask(caller: Caller, route: str, ids: Ids) -> Answer:
    method, path = route.split(" ", 1)
    body = TABLE[route]
    if isinstance(body, dict) and "items" in body:
        body = {"items": [{**item, "document_id": ids["document_id"]} for item in body["items"]]}
    if isinstance(body, dict) and "banks" in body:
        body = {**body, "banks": [ids["bank_id"]]}
    if body is RECALL_BY_TOOL:
        body = json.loads(json.dumps(body).replace("{bank_id}", ids["bank_id"]))
    target = path.replace(":path", "").format(**ids)
    if isinstance(body, bytes):
        return caller(method, target, raw=body, headers=HEADERS | {"content-type": "multipart/form-data; boundary=b"})
    return caller(method, target, body, HEADERS)


def _anonymous(answer: Answer, ids: Ids) -> tuple[int, str]:
    """Status and body without what legitimately differs: the ids that were sent, new ids, and the time."""
    text = answer.body.decode()
    for name, value in ids.items():
        text = text.replace(value, f"<{name}>")
    if answer.status < 300 and "operation_id" in text and "not_found" not in text:
        text = "an operation"
    if answer.status == 201 and "http_config" in text:
        text = "a webhook"
    return answer.status, text.split('"buckets"')[0]
