"""`make smoke` against a whole stack: it passes where memory works, and says at which step where it does not."""

from __future__ import annotations

import httpx
import pytest

from infra import smoke as smoking
from infra.local.stack import LocalStack
from infra.smoke import SmokeError, Step, main, smoke
from infra.smoke_calls import Deployment
from tests.conftest import Dose
from tests.support.bedrock import Bedrock

_WARM = [
    "health", "version", "bank is made", "retain, at once", "retain, by the queue", "recall finds it",
    "observation with evidence", "bank is deleted",
]  # fmt: skip
_COLD = ["reflect with a citation", "file becomes memory", "MCP lists tools"]


@pytest.fixture(autouse=True)
def _model_without_scripts(bedrock: Bedrock) -> None:
    """The offline model answers by its rules."""


def _left_behind(stack: LocalStack) -> list[str]:
    banks = httpx.get(f"{stack.base_url}/v1/default/banks").json()["banks"]
    return [bank["bank_id"] for bank in banks if bank["bank_id"].startswith("smoke-")]


def test_a_deployment_that_works_does_all_of_it_once_and_is_left_as_it_was(stack: LocalStack, dose: Dose) -> None:
    """In the gate without the steps whose functions would be started for this alone."""
    said: list[Step] = []

    smoke(stack.base_url, None, said.append, without=_COLD if dose == "small" else ())

    every = _WARM if dose == "small" else [*_WARM[:-1], *_COLD, _WARM[-1]]
    assert [step.name for step in said] == every
    assert {step.outcome for step in said} == {"ok"}
    assert _left_behind(stack) == []


def test_what_fails_is_named_and_the_bank_is_deleted_all_the_same(
    stack: LocalStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoking, "_SYNC", "")
    said: list[Step] = []

    with pytest.raises(SmokeError, match=r"retain, at once: POST .*/memories is answered 4"):
        smoke(stack.base_url, None, said.append)

    assert [step.name for step in said][-2:] == ["bank is made", "bank is deleted"]
    assert _left_behind(stack) == []


def test_one_that_refuses_the_key_is_named_with_its_answer(stack: LocalStack) -> None:
    with pytest.raises(SmokeError, match=r"bank is made: PUT .* is answered 401"):
        smoke(stack.base_url, "hsk_" + "0" * 8, lambda _: None)


def test_what_a_deployment_does_not_serve_is_no_failure(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Deployment.ask_mcp
    monkeypatch.setattr(Deployment, "ask_mcp", lambda self, _path, method: real(self, "/v1/nowhere", method))
    trial = smoking._Smoke(Deployment(stack.base_url, None))

    step = smoking._timed("MCP lists tools", trial._mcp)

    assert step.outcome == "not served here"


def test_an_address_that_is_none_of_http_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["smoke", "ftp://memory.example.com"])

    assert main() == 1
    assert "make smoke URL=" in capsys.readouterr().err
