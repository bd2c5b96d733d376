"""A call for each route that is served, with a body that the route takes: one table for every suite that asks them all.

A new route needs its row in TABLE (or in NO_IDS), and one in tests/security/authorisation.csv.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from uuid import uuid4

from fastapi.routing import APIRoute

from hindsight_aws.api.app import GROUPS, routers
from hindsight_aws.model.chunk_id import chunk_id
from tests.support.api import UNSET, Answer, Caller
from tests.support.archives import archive_form
from tests.support.seed import Seeded

Ids = dict[str, str]
BANK = "/v1/default/banks/{bank_id}"
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{}\r\n'
    b'--b\r\nContent-Disposition: form-data; name="files"; filename="plants.txt"\r\n\r\nAlice waters.\r\n--b--\r\n'
)
ARCHIVE = archive_form()
"""An archive of no memories, which any bank can be made of."""
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
    f"POST {BANK}/erasures": {"tags": ["user:a"]},
    "GET /v1/default/erasures": UNSET,
    "GET /v1/default/erasures/{erasure_id}": UNSET,
    f"GET {BANK}/export": UNSET,
    f"POST {BANK}/import": {"version": "1", "directives": [{"name": "n", "content": "c"}]},
    f"GET {BANK}/aliases": UNSET,
    f"POST {BANK}/aliases": {"alias": "another name of {bank_id}"},
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
    f"POST {BANK}/transfer/export": UNSET,
    f"POST {BANK}/transfer/import": ARCHIVE,
    f"POST {BANK}/clone": UNSET,
    f"POST {BANK}/document-transfer/export": UNSET,
    f"POST {BANK}/document-transfer": ARCHIVE,
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
    f"POST {BANK}/reembed": UNSET,
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
    f"GET {BANK}/knowledge-base/tree": UNSET,
    f"POST {BANK}/knowledge-base/folders": {"name": "n"},
    f"POST {BANK}/knowledge-base/pages": {"name": "n", "source_query": "Who?"},
    f"GET {BANK}/knowledge-base/pages/{{page_id}}": UNSET,
    f"GET {BANK}/knowledge-base/search": UNSET,
    f"GET {BANK}/knowledge-base/export": UNSET,
    f"PATCH {BANK}/knowledge-base/nodes/{{node_id}}": {"name": "n"},
    f"DELETE {BANK}/knowledge-base/nodes/{{node_id}}": UNSET,
    **dict.fromkeys(MCP, RECALL_BY_TOOL),
}
QUERIES: Mapping[str, str] = {
    f"GET {BANK}/knowledge-base/search": "?q=bees",
    f"POST {BANK}/clone": "?target_bank_id=copy",
}
"""What a route must be asked in its query string."""
NO_IDS = {
    "GET /health", "GET /health/ready", "GET /health/live", "GET /version", "GET /v1/version", "GET /metrics",
    "GET /v1/bank-template-schema", f"GET {BANK}/document-transfer",
}  # fmt: skip
"""What asks for no key and looks at no bank."""
WRONG_VERBS = {f"{verb} {BANK}/memories" for verb in ("GET", "PUT", "PATCH")}
HEADERS = {"prefer": "respond-async"}
_DIFFERING = {"content-length", "x-hindsight-watermark"}
"""Headers that follow from the ids in the body, and from the clock."""


def ids_of(seeded: Seeded) -> Ids:
    """What the words in braces stand for in a seeded bank."""
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
        "page_id": seeded.knowledge_page,
        "node_id": seeded.knowledge_page,
        "chunk_id": chunk_id(seeded.bank, seeded.document, 0),
        "attachment_id": "0123456789ab",
        "alias": f"alias-{seeded.mark}",
        "log_id": str(seeded.log),
        "erasure_id": str(seeded.erasure),
        "key": seeded.archive,
    }


def unknown_ids() -> Ids:
    """Ids of the same forms that nothing has."""
    things = {
        name: str(uuid4())
        for name in ("memory_id", "entity_id", "operation_id", "run_id", "directive_id", "webhook_id")
    }
    return {
        "bank_id": "bank-of-nobody",
        "document_id": "doc/nothing",
        "mental_model_id": "page-of-nobody",
        "page_id": "kp-of-nobody",
        "node_id": "kp-of-nobody",
        "chunk_id": chunk_id("bank-of-nobody", "doc/nothing", 0),
        "attachment_id": "ba9876543210",
        "alias": "alias-of-nobody",
        "log_id": str(uuid4()),
        "erasure_id": str(uuid4()),
        "key": f"tenants/{uuid4()}/banks/{uuid4()}/transfers/{uuid4()}.zip",
        **things,
    }


def ask(caller: Caller, route: str, ids: Ids, reword: Callable[[str], str] = str) -> Answer:
    """What the route answers about these ids, to the body of its row, in other words if need be."""
    method, path = route.split(" ", 1)
    body = TABLE[route]
    if isinstance(body, dict):
        said = reword(json.dumps(body))
        for name, value in ids.items():
            said = said.replace(f"{{{name}}}", value)
        body = json.loads(said)
    target = path.replace(":path", "").format(**ids) + QUERIES.get(route, "")
    if isinstance(body, bytes):
        return caller(method, target, raw=body, headers=HEADERS | {"content-type": "multipart/form-data; boundary=b"})
    return caller(method, target, body, HEADERS)


def anonymous(answer: Answer, ids: Ids) -> tuple[int, Mapping[str, str], str]:
    """Status, headers and body without what legitimately differs: the ids that were sent, new ids, and the time."""
    text = answer.body.decode()
    for name, value in ids.items():
        text = text.replace(value, f"<{name}>")
    if answer.status < 300 and "operation_id" in text and "not_found" not in text:
        text = "an operation"
    if answer.status == 201 and "http_config" in text:
        text = "a webhook"
    if answer.status == 201 and '"kind":"folder"' in text:
        text = "a folder"
    text = re.sub(r'"latency_ms":[0-9.]+', '"latency_ms":0', text)
    told = {name: value for name, value in answer.headers.items() if name not in _DIFFERING}
    return answer.status, told, text.split('"buckets"')[0]


def every_route() -> set[str]:
    """Every route of the API, as the keys of TABLE name them."""
    return {
        f"{method} {route.path}"
        for router in routers(GROUPS)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
