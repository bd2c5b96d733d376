"""The official Python client carries banks: its own archive helpers, unmodified, over real HTTP and a real bucket."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from itertools import count

import httpx
import pytest
from hindsight_client import Hindsight

from hindsight_aws.transfer import points
from infra.local.faults import Action
from infra.local.stack import LocalStack
from tests.support.bedrock import Bedrock
from tests.support.official import official_client
from tests.support.world import World

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),  # the client's own
    pytest.mark.timeout(120),
]
_numbers = count(1)


@pytest.fixture
def client(stack: LocalStack) -> Iterator[Hindsight]:
    with official_client(stack.base_url) as client:
        yield client


@pytest.fixture
def bank(client: Hindsight, bedrock: Bedrock) -> str:
    bank = f"carried-{next(_numbers)}"
    client.create_bank(bank, name="Carried")
    client.update_bank_config(bank, enable_auto_consolidation=False)
    client.retain(
        bank, "Olive bakes rye bread on Sundays. Her oven is blue.", document_id="talk-1", tags=["user:olive"]
    )
    return bank


def texts(client: Hindsight, bank: str) -> list[str]:
    return sorted(memory.text or "" for memory in client.list_memories(bank).items)


def ended(stack: LocalStack, bank: str, operation_id: str) -> dict[str, object]:
    """The operation once it has ended well."""
    give_up_at = time.monotonic() + 60
    while True:
        found = httpx.get(f"{stack.base_url}/v1/default/banks/{bank}/operations/{operation_id}").json()
        if found["status"] not in {"pending", "processing"}:
            assert found["status"] == "completed", found
            return dict(found)
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def test_the_clients_archive_helpers_work_unmodified(stack: LocalStack, client: Hindsight, bank: str) -> None:
    """Export, import, clone, and the export of documents."""
    archive = client.export_bank(bank, include_history=True, poll_interval=0.05, timeout=60)
    imported = client.import_bank(bank, archive, target_bank_id=f"{bank}-restored")
    cloned = client.clone_bank(bank, f"{bank}-cloned")
    for operation_id in (imported, cloned):
        ended(stack, bank, operation_id)
    documents = client.export_documents(bank, ["talk-1"], poll_interval=0.05, timeout=60)

    assert texts(client, bank)
    assert texts(client, f"{bank}-restored") == texts(client, f"{bank}-cloned") == texts(client, bank)
    found = client.recall(f"{bank}-restored", "When does Olive bake bread?", tags=["user:olive"]).results
    assert (found[0].text, found[0].document_id) == ("Olive bakes rye bread on Sundays.", "talk-1")
    assert client.get_bank_config(f"{bank}-cloned")["overrides"] == client.get_bank_config(bank)["overrides"]
    with zipfile.ZipFile(io.BytesIO(documents)) as opened:
        assert set(opened.namelist()) == {"documents.jsonl", "chunks.jsonl", "memories.jsonl", "manifest.json"}


def test_a_killed_worker_leaves_a_whole_bank_after_the_sweep(world: World) -> None:
    """`kill -9` of the transfer worker between two batches of a restore."""
    world.send("make", "b", "PUT", "", {})
    world.model.script({"extract": "ONE_FACT_PER_LINE"})
    item = {"content": "Bea moved to Rome.\nBea paints.", "document_id": "d"}
    assert world.send("retain", "b", "POST", "/memories", {"items": [item]}).status == 200
    world.stack.faults.kill_at(points.AFTER_BATCH, function="transfer")

    asked = world.send("clone", "b", "POST", "/clone", params={"target_bank_id": world.name("c")})
    assert asked.status == 202, asked.text
    world.settle("transfer")
    hidden = world.send("look", "c", "GET", "/stats").status
    world.let_time_pass()
    world.settle("transfer")

    assert [hit.action for hit in world.stack.faults.hits(points.AFTER_BATCH)].count(Action.KILL) == 1
    assert hidden == 404
    operation = ended(world.stack, world.name("b"), asked.body["operation_id"])
    assert operation["operation_type"] == "clone_bank"
    assert [memory["text"] for memory in world.memories("c")] == [memory["text"] for memory in world.memories("b")]
