"""Webhooks on the whole local stack: `deliver` has the database, `send` the way out."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from tests.support.receiver import receiving
from tests.support.world import World

pytestmark = pytest.mark.timeout(120)

_SECRET = "between us"


def test_what_a_retain_tells_goes_through_both_functions_signed(world: World) -> None:
    world.model.script({"extract": "ONE_FACT_PER_LINE"})
    with receiving() as receiver:
        hook = {"url": receiver.url, "secret": _SECRET, "event_types": ["retain.completed"]}
        made = world.send("hook", "b", "POST", "/webhooks", hook)
        assert made.status == 201, made.text

        item = {"content": "Bea moved to Rome.", "document_id": "letter"}
        assert world.send("retain", "b", "POST", "/memories", {"items": [item]}).status == 200
        world.settle("deliver", "send", "deliver")

    assert _told(world, made.body["id"]) == ("completed", 1, 204)
    (request,) = receiver.received
    proof = hmac.new(_SECRET.encode(), request.body.encode(), hashlib.sha256).hexdigest()
    assert request.headers["X-Hub-Signature-256"] == f"sha256={proof}"
    told = json.loads(request.body)
    assert (told["event"], told["bank_id"]) == ("retain.completed", world.name("b"))
    assert told["data"] == {"document_id": "letter", "tags": [], "memory_unit_count": 1}
    assert _SECRET not in world.logged()


def _told(world: World, webhook: str) -> tuple[str, int, int | None]:
    """What became of the one delivery of a hook."""
    [item] = world.get("b", f"/webhooks/{webhook}/deliveries")["items"]
    return item["status"], item["attempts"], item["last_response_status"]
