"""A bank erased on the whole stack: the function that sweeps has the receipt signed, and no other could."""

from __future__ import annotations

import json
from pathlib import Path

from hindsight_aws.cli import main
from tests.support.world import World


def test_the_sweep_signs_what_a_request_erased(world: World, tmp_path: Path) -> None:
    world.send("make", "gone", "PUT", "", {"name": "n"})
    deleted = world.client.delete(f"/v1/default/banks/{world.name('gone')}")
    path = f"/v1/default/erasures/{deleted.headers['x-hindsight-erasure']}"

    world.stack.run_schedule("sweep")

    receipt = tmp_path / "receipt.json"
    receipt.write_text(world.client.get(path).text)
    public = world.stack.options.state / "kms" / "receipts.pub.pem"
    assert json.loads(receipt.read_text())["state"] == "signed"
    assert main(["erasure", "verify", str(receipt), "--public-key", str(public)]) == 0
    assert "HINDSIGHT_RECEIPT_KEY" not in world.stack.variables_of("admin")
