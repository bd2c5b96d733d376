"""The official TypeScript client, unmodified, through every method it has."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.ecosystem.installed import node, packages

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

_FLOWS = Path(__file__).with_name("flows.mjs")


@pytest.mark.usefixtures("bedrock")
def test_every_flow_of_the_typescript_client_holds(stack: LocalStack) -> None:
    environment = {**os.environ, "CLIENT_FROM": str(packages() / "package.json")}

    ran = subprocess.run(
        [node(), str(_FLOWS), stack.base_url, "typescript"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    steps = {line["step"]: line["holds"] for line in map(json.loads, ran.stdout.splitlines())}
    assert len(steps) > 40, ran.stderr
    assert {step: holds for step, holds in steps.items() if holds is not True} == {}


def test_the_flows_call_every_method_that_the_client_has() -> None:
    declared = (packages() / "node_modules/@vectorize-io/hindsight-client/dist/index.d.ts").read_text(encoding="utf-8")
    of_client = declared[declared.index("declare class HindsightClient ") :]
    methods = set(re.findall(r"^    ([a-z]\w+)\(", of_client[: of_client.index("\n}")], re.MULTILINE)) - {"constructor"}

    called = set(re.findall(r"client\.(\w+)\(", _FLOWS.read_text(encoding="utf-8")))

    assert methods - called == set()
