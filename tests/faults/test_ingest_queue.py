"""Async retain over a queue that doubles, loses, delays and shuffles, and with a message that no worker can do."""

from __future__ import annotations

import json
import random

import pytest

from tests.conftest import Dose
from tests.support.invariants import broken
from tests.support.world import World

pytestmark = pytest.mark.timeout(300)
LATE_S = 0.5


def submit(world: World, number: int, bank: str = "b") -> str:
    """An async retain of one fact; the operation's id."""
    item = {"content": f"Parcel {number} arrived.", "document_id": f"note-{number % 7}", "update_mode": "append"}
    answer = world.send("retain", bank, "POST", "/memories", {"items": [item], "async": True})
    assert answer.status == 200, answer.text
    return str(answer.body["operation_id"])


def statuses(world: World, *banks: str) -> list[str]:
    """How the retain operations of these banks ended, parents left out."""
    found = world.sql(
        "SELECT status FROM operations WHERE bank_id = ANY(%s) AND kind = 'retain'", world.bank_ids(banks)
    )
    return [row["status"] for row in found]


def quiet(world: World, *banks: str) -> None:
    """Banks in which nothing is consolidated."""
    for bank in banks:
        world.send("prepare", bank, "PATCH", "/config", {"updates": {"enable_auto_consolidation": False}})


def test_every_acknowledged_retain_happens_once_whatever_the_queue_does(world: World, dose: Dose, seed: int) -> None:
    chance = random.Random(seed)
    count = 24 if dose == "small" else 400
    quiet(world, "b")
    world.model.script({"extract": "ECHO"})
    queues = world.stack.queues
    queues.shuffle("ingest", chance.randrange(1 << 30))

    for number in range(count):
        if number % 12 == 0:
            queues.lose("ingest", chance.randint(1, 3))
            queues.double("ingest", chance.randint(2, 5))
            queues.delay("ingest", LATE_S, chance.randint(1, 4))
        submit(world, number)
    world.settle("ingest")
    queues.behave("ingest")
    world.let_time_pass()

    texts = sorted(memory["text"] for memory in all_memories(world))
    assert texts == sorted(f"Parcel {number} arrived." for number in range(count))
    assert statuses(world, "b") == ["completed"] * count
    assert queues.counts("ingest").dead == 0
    assert broken(world.rows, world.bank_ids(["b"])) == []


def all_memories(world: World) -> list[dict[str, str]]:
    return world.sql("SELECT text FROM memory_units WHERE bank_id = ANY(%s)", world.bank_ids(["b"]))


def test_a_message_that_cannot_be_done_goes_to_the_dead_letters_and_its_neighbours_do_not(world: World) -> None:
    quiet(world, "b")
    world.model.script({"extract": "ECHO"})
    queues = world.stack.queues
    dead = queues.counts("ingest").dead
    queues.lose("ingest", 4)
    for number in range(4):
        submit(world, number)
    records = world.sql(
        "SELECT tenant_id, operation_id FROM operations WHERE bank_id = ANY(%s) AND kind = 'retain'",
        world.bank_ids(["b"]),
    )
    with world.refusing([records[1]["operation_id"]]):
        for record in records:
            queues.send("ingest", json.dumps({name: str(value) for name, value in record.items()}))
        world.settle("ingest")
        ended = statuses(world, "b")
    died = queues.counts("ingest").dead - dead
    world.let_time_pass()

    assert ended.count("completed") == 3
    assert died == 1
    assert statuses(world, "b") == ["completed"] * 4


def test_work_that_cannot_be_read_fails_on_its_row(world: World) -> None:
    quiet(world, "b")
    queues = world.stack.queues
    dead = queues.counts("ingest").dead
    queues.lose("ingest")
    submit(world, 1)
    world.rows.execute("UPDATE operations SET payload = '[1]' WHERE bank_id = ANY(%s)", (world.bank_ids(["b"]),))

    world.let_time_pass()

    assert statuses(world, "b") == ["failed"]
    assert queues.counts("ingest").dead == dead


def test_a_worker_that_dies_in_a_batch_costs_its_neighbours_nothing(world: World) -> None:
    quiet(world, "b")
    world.model.script({"extract": "ECHO"})
    queues = world.stack.queues
    dead = queues.counts("ingest").dead
    world.stack.faults.kill_at("retain.after_extract", nth=2, function="ingest")

    for number in range(8):
        submit(world, number)
    world.settle("ingest")
    world.let_time_pass()

    assert statuses(world, "b") == ["completed"] * 8
    assert len(all_memories(world)) == 8
    assert queues.counts("ingest").dead == dead


def test_a_message_that_names_nothing_is_dropped(world: World) -> None:
    queues = world.stack.queues
    dead = queues.counts("ingest").dead

    for body in ("", "not json", "{}", "[]", '{"tenant_id": 1, "operation_id": null}', "\x00"):
        queues.send("ingest", body)
        queues.send("consolidate", body)
    world.settle("ingest", "consolidate")

    assert queues.counts("ingest").dead == dead
    assert queues.counts("consolidate").dead == 0
