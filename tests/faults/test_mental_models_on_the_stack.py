"""A mental model on the whole local stack: made, written by the workflow, its writer killed by signal meanwhile."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from infra.local.stack import LocalStack

BANK = "/v1/default/banks/pages"


@pytest.mark.timeout(120)
def test_a_page_is_written_once_though_its_writer_dies(stack: LocalStack) -> None:
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        item = {"content": "Bea moved to Rome. Bea keeps bees.", "document_id": "letter"}
        assert client.post(f"{BANK}/memories", json={"items": [item]}).status_code == 200
        stack.faults.kill_at("reflect.before_finish", function="reflect_step")

        made = client.post(f"{BANK}/mental-models", json={"id": "bea", "name": "Bea", "source_query": "Who is Bea?"})

        assert made.status_code == 200, made.text
        operation = _ended(client, f"{BANK}/operations/{made.json()['operation_id']}")
        stack.faults.clear()
        assert operation["details"]["outcome"] == "content_written", operation
        page = client.get(f"{BANK}/mental-models/bea").json()
        assert "Rome" in page["content"]
        assert [entry["previous_content"] for entry in client.get(f"{BANK}/mental-models/bea/history").json()] == [""]
        preview = client.post(f"{BANK}/mental-models/bea/dry-run-refresh")
        assert preview.status_code == 200, preview.text


def _ended(client: httpx.Client, path: str) -> dict[str, Any]:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        operation: dict[str, Any] = client.get(path).json()
        if operation["status"] not in ("pending", "processing"):
            return operation
        time.sleep(0.1)
    raise AssertionError(f"{path} did not end")
