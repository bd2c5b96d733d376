"""Consolidation under duplicate, lost and late wake-ups, its workers killed at every boundary of a commit."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

from infra.local.faults import Action
from tests.conftest import Dose
from tests.support.invariants import broken, near_twins, stranded
from tests.support.stack import running_stack, world_of
from tests.support.world import World

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

POINTS: Final = ("before_read", "after_model", "before_commit", "after_apply", "before_release")
SCOPES: Final = 20
LATE_S: Final = 0.5


@pytest.fixture
def storm(stack: LocalStack, dose: Dose) -> Iterator[World]:
    """The shared stack, or one with ten workers for the deep dose."""
    if dose == "small":
        with world_of(stack) as world:
            yield world
    else:
        with running_stack(concurrency=10) as wide, world_of(wide) as world:
            yield world


def sayings(person: int) -> list[str]:
    """Four facts of one person: two say the same, one nearly."""
    return [
        f"Person {person} sells bread on the market.",
        f"Person {person} sells bread on the market.",
        f"Person {person} sells bread at the market.",
        f"Person {person} was born in house {person * 7}.",
    ]


def remember(world: World, people: range) -> None:
    """Retains what is known of each person, each a scope of their own; nobody is woken by that."""
    made = world.send("prepare", "b", "PATCH", "/config", {"updates": {"enable_auto_consolidation": False}})
    assert made.status == 200, made.text
    items = [{"content": text, "tags": [f"user:{person}"]} for person in people for text in sayings(person)]
    answer = world.send("retain", "b", "POST", "/memories", {"items": items})
    assert answer.status == 200, answer.text


def wake(world: World, chance: random.Random) -> None:
    """Asks for consolidation by hand over queues that lose, double, delay and shuffle, and wakes scopes out of turn."""
    queues = world.stack.queues
    queues.shuffle("consolidate", chance.randrange(1 << 30))
    queues.lose("consolidate", chance.randint(2, 4))
    queues.double("consolidate", chance.randint(5, 9))
    queues.delay("consolidate", LATE_S, chance.randint(3, 6))
    assert world.send("consolidate", "b", "POST", "/consolidate", {}).status == 200
    scopes = world.sql("SELECT tenant_id, bank_id, scope_id FROM scopes WHERE bank_id = ANY(%s)", world.bank_ids(["b"]))
    for scope in chance.sample(scopes, k=SCOPES // 2):
        queues.send("consolidate", json.dumps({name: str(value) for name, value in scope.items()}))


@pytest.mark.timeout(900)
def test_no_storm_of_wakeups_and_kills_doubles_orphans_or_strands(storm: World, dose: Dose, seed: int) -> None:
    chance = random.Random(seed)
    storm.model.script({"extract": "ECHO", "consolidate": "ONE_PER_FACT", "judge": {"action": "merge"}})
    rounds = 1 if dose == "small" else 10
    for number in range(rounds):
        remember(storm, range(number * SCOPES, (number + 1) * SCOPES))
        for point in POINTS:
            storm.stack.faults.kill_at(
                f"consolidate.{point}", nth=chance.randint(2, 12), times=1 if dose == "small" else 3
            )

        wake(storm, chance)
        storm.settle("consolidate")

    hits = storm.stack.faults.hits()
    struck = {hit.point.removeprefix("consolidate.") for hit in hits if hit.action is Action.KILL}
    storm.stack.faults.clear()
    storm.stack.queues.behave("consolidate")
    storm.let_time_pass()
    banks = storm.bank_ids(["b"])
    assert struck == set(POINTS)
    assert stranded(storm.rows, banks) == []
    assert broken(storm.rows, banks) == []
    assert near_twins(storm.rows, banks) == []


def test_a_scope_that_everybody_wakes_is_worked_on_once_at_a_time(world: World) -> None:
    """A worker that finds the lease taken asks no model, and what arrives during a drain is not lost."""
    remember(world, range(SCOPES, SCOPES + 1))
    faults, queues = world.stack.faults, world.stack.queues
    world.model.script({"extract": "ECHO", "consolidate": "ONE_PER_FACT", "judge": {"action": "merge"}})
    faults.pause_at("consolidate.after_model")
    world.send("consolidate", "b", "POST", "/consolidate", {})
    faults.wait_for("consolidate.after_model", timeout=60)
    late = world.send(
        "retain", "b", "POST", "/memories", {"items": [{"content": "A late fact.", "tags": [f"user:{SCOPES}"]}]}
    )
    (scope,) = world.sql(
        "SELECT tenant_id, bank_id, scope_id FROM scopes WHERE bank_id = ANY(%s)", world.bank_ids(["b"])
    )
    asked = len(world.calls("consolidate"))

    for _ in range(6):
        queues.send("consolidate", json.dumps({name: str(value) for name, value in scope.items()}))
    faults.wait_for("consolidate.after_model")
    while queues.counts("consolidate").visible:
        time.sleep(0.01)
    asked_meanwhile = len(world.calls("consolidate")) - asked
    faults.clear()
    world.settle("consolidate")

    assert late.status == 200
    assert asked_meanwhile == 0
    assert stranded(world.rows, world.bank_ids(["b"])) == []
    assert broken(world.rows, world.bank_ids(["b"])) == []
