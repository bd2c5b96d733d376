"""One event for each function that it handles whole: what cold starts are measured with. Used by cold.py and tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Order
from hindsight_aws.webhooks.messages import order_to_text
from infra.local.options import DEV_TENANT
from infra.topology import TOPOLOGY, Route
from tests.support.packaged import EVENTS

BANK: Final = "/v1/default/banks/cold"
_NOBODY: Final = "00000000-0000-4000-8000-000000000000"


def is_door(function: str) -> bool:
    """Whether the function answers HTTP."""
    return any(isinstance(trigger, Route) for trigger in TOPOLOGY.function(function).triggers)


def event_of(function: str) -> dict[str, Any]:
    """An event that the function handles whole: over HTTP a small call, else a wake-up for what is not there."""
    if function == "reflect_step":
        run = {"tenant_id": str(DEV_TENANT), "bank_id": _NOBODY, "run_id": _NOBODY, "turn": 0}
        return {"step": "fail", "run": run}
    if function == "sweep":
        return {}
    if function == "migrate":
        event: dict[str, Any] = json.loads((EVENTS / "custom-resource-update.json").read_text(encoding="utf-8"))
        return event
    if function == "send":
        return {"Records": [_record(function, json.loads(order_to_text(_LATE)))]}
    if not is_door(function):
        ids = dict.fromkeys(("operation_id", "bank_id", "scope_id", "delivery_id"), _NOBODY)
        return {"Records": [_record(function, {"tenant_id": str(DEV_TENANT), **ids})]}
    method, path, body = _CALLS[function]
    event = json.loads((EVENTS / "http-api.json").read_text(encoding="utf-8"))
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
    "recall": ("POST", f"{BANK}/memories/recall", {"query": "Where does Ada live?"}),
    "retain": ("POST", f"{BANK}/memories", {"items": [{"content": "Ada moved to Rome."}], "async": True}),
    "reflect": ("POST", f"{BANK}/reflect", {"query": "Where does Ada live?"}),
    "admin": ("GET", f"{BANK}/stats", None),
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
