"""Brings about what a case presupposes: its banks, observations that rest on evidence, facts at a distance.

Called by the player before the steps; calls the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.store.postgres import PostgresStore
from tests.cases.reading import Case
from tests.cases.scripting import scripted
from tests.support.api import make_key
from tests.support.units import DIMENSIONS, Unit, insert_units
from tests.support.world import World

_SMALL_CHUNK: Final = 30
_OWN_TENANT: Final = "g1"


def group_bank(record: Mapping[str, Any]) -> str:
    """The bank that stands for a record's message group."""
    return f"group-{record.get('group', _OWN_TENANT)}"


def make_banks(case: Case, world: World) -> None:
    """The case's banks; nothing is consolidated in them before a step says so.

    A message group is a bank, and but for the first a tenant, of its own.
    """
    records = [record for step in case.steps if step.do == "sqs_event" for record in step.fields["records"]]
    groups = dict.fromkeys(group_bank(record) for record in records)
    for bank in groups:
        if bank != f"group-{_OWN_TENANT}":
            world.keys[bank] = _new_tenant(world, bank)
    updates: dict[str, object] = {"enable_auto_consolidation": False}
    if case.config.get("chunk_size_small"):
        updates["retain_chunk_size"] = _SMALL_CHUNK
    for bank in [*case.banks, *groups]:
        made = world.send("prepare", bank, "PATCH", "/config", {"updates": updates})
        assert made.status == 200, made.text


def _new_tenant(world: World, name: str) -> str:
    """A tenant of that name; a key of it."""
    tenant_id = TenantId(uuid4())
    world.rows.execute("INSERT INTO tenants (tenant_id, name) VALUES (%s, %s)", (tenant_id, world.name(name)))
    store = PostgresStore(lambda: f"{world.stack.superuser_url}&options=-csearch_path%3Dhindsight,public")
    try:
        return make_key(store, tenant_id)
    finally:
        store.close()


def observe(case: Case, world: World, embed: JsonValue) -> None:
    """`setup.observations`: each rests on a fact of the same text."""
    bank = case.setup.get("bank", "")
    for place, given in enumerate(case.setup.get("observations", [])):
        _observe(world, bank, {"text": given} if isinstance(given, str) else given, embed)
        assert len(world.stored_ids(bank, observations=True)) == place + 1, "the setup did not leave its observation"


def _observe(world: World, bank: str, given: Mapping[str, Any], embed: JsonValue) -> None:
    fact = {key: value for key, value in given.items() if key in {"text", "occurred_start", "occurred_end"}}
    scripts: JsonObject = {
        "extract_facts": scripted("extract", {"facts": [fact]}, lambda *_: None),
        "consolidate": "ONE_PER_FACT",
        "judge_duplicate": {"action": "keep"},
    }
    world.model.script(scripts if embed is None else {**scripts, "embed": embed})
    item = {"content": given["text"], **{key: given[key] for key in ("tags", "observation_scopes") if key in given}}
    for answer in (
        world.send("setup", bank, "POST", "/memories", {"items": [item]}),
        world.send("setup", bank, "POST", "/consolidate", {}),
    ):
        assert answer.status == 200, answer.text
    world.settle("consolidate")


def place_vectors(case: Case, world: World) -> None:
    """`setup.vectors`: facts at a cosine distance from what every query is then embedded as, the first axis."""
    for bank, wanted in case.setup.get("vectors", {}).items():
        near = 1.0 - wanted["distance"]
        vector = [near, (1.0 - near * near) ** 0.5, *([0.0] * (DIMENSIONS - 2))]
        units = [Unit(f"Vector fact {number}.", vector=vector) for number in range(wanted["count"])]
        (bank_id,) = world.bank_ids([bank])
        insert_units(world.stack.superuser_url, world.tenant, bank_id, units)
