"""Files on the whole local stack: brought to a presigned address, converted by a worker that is killed on the way."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from hindsight_aws.files import points
from infra.local.faults import Action
from infra.topology import MIB
from tests.support.world import World

pytestmark = pytest.mark.timeout(120)

_LINE = "Bea moved to Rome."


def multipart(world: World, bank: str, parts: dict[str, Any], request: dict[str, object]) -> httpx.Response:
    """POST files/retain."""
    url = f"/v1/default/banks/{world.name(bank)}/files/retain"
    return world.client.post(url, data={"request": json.dumps(request)}, files=parts or {"none": (None, b"")})


def ended(world: World, bank: str, operation_id: str) -> dict[str, Any]:
    """The operation once it has ended."""
    give_up_at = time.monotonic() + 60
    while True:
        operation: dict[str, Any] = world.get(bank, f"/operations/{operation_id}")
        if operation["status"] not in {"pending", "processing"} or time.monotonic() > give_up_at:
            return operation
        time.sleep(0.05)


def test_a_presigned_upload_survives_the_death_of_its_worker_and_is_retained_once(world: World) -> None:
    """[R025] The way for what no request carries, with `kill -9` of the convert worker just before its commit."""
    world.send("make", "b", "PUT", "", {})
    world.model.script({"extract": "ONE_FACT_PER_LINE"})
    body = (_LINE + " " * (5 * MIB - len(_LINE))).encode()[: 4 * MIB + 700_000]
    wanted = {"filename": "letter.txt", "size": len(body), "content_type": "text/plain"}
    announced = world.send("announce", "b", "POST", "/files/uploads", wanted).body
    world.stack.faults.kill_at(points.BEFORE_COMMIT, function="convert")

    assert httpx.put(announced["url"], content=body, headers=announced["headers"]).status_code == 200
    answer = multipart(world, "b", {}, {"uploads": [announced["upload_id"]]})
    assert answer.status_code == 200, answer.text
    [operation_id] = answer.json()["operation_ids"]
    world.settle("convert")
    world.let_time_pass()

    assert [hit.action for hit in world.stack.faults.hits(points.BEFORE_COMMIT)].count(Action.KILL) == 1
    operation = ended(world, "b", operation_id)
    assert operation["status"] == "completed", operation
    retained = ended(world, "b", operation["result_metadata"]["retain_operation_id"])
    assert retained["status"] == "completed", retained
    assert [memory["text"] for memory in world.memories("b")] == [_LINE]
    [document] = world.get("b", "/documents")["items"]
    assert document["id"] == f"file_{announced['upload_id']}"


def test_more_than_an_event_carries_is_refused_with_the_way_to_bring_it(world: World) -> None:
    """[R025] 413, and where to go instead."""
    world.send("make", "b", "PUT", "", {})
    before = world.stack.stored_files()

    answers = [
        multipart(world, "b", {"files": ("big.bin", b"\xff" * size, "application/octet-stream")}, {})
        for size in (5 * MIB, 9_000_000)
    ]

    assert [answer.status_code for answer in answers] == [413, 413]
    assert all("/files/uploads" in answer.json()["detail"] for answer in answers)
    assert world.stack.stored_files() == before
