"""The reflect workflow on the whole local stack, its steps killed by signal in the middle of their work."""

from __future__ import annotations

import httpx
import pytest

from infra.local.stack import LocalStack

BANK = "/v1/default/banks/reflect-kills"
POINTS = ("reflect.before_model", "reflect.after_tool", "reflect.before_finish", "store.after_commit")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("point", POINTS)
def test_a_step_that_dies_is_run_again_and_the_caller_sees_one_answer(stack: LocalStack, point: str) -> None:
    with httpx.Client(base_url=stack.base_url, timeout=60) as client:
        item = {"content": "Bea moved to Rome.", "document_id": "letter"}
        assert client.post(f"{BANK}/memories", json={"items": [item]}).status_code == 200
        stack.faults.kill_at(point, function="reflect_step")

        answer = client.post(f"{BANK}/reflect", json={"query": f"Where does Bea live? ({point})"})

        stack.faults.clear()
    assert answer.status_code == 200, answer.text
    assert "Rome" in answer.json()["text"]
    assert len(answer.json()["text"]) < 1_000
