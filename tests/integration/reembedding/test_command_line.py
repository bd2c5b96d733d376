"""`hindsight-aws reembed`: through the API, as an administrator would ask with curl."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping

import pytest

from hindsight_aws.cli import main
from hindsight_aws.importing import Posted
from tests.integration.reembedding.conftest import NEW, Desk


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk whose API the command line reaches."""

    def call(_chosen: Namespace, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Posted:
        answer = desk.call(method, path, raw=body, headers=headers)
        return Posted(answer.status, answer.body)

    monkeypatch.setattr("hindsight_aws.cli.reembedding.call", call)
    return desk


def test_it_is_started_and_watched(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.retain("Alice waters the roses.")

    codes = [main(["reembed", "start", "garden", "--model", NEW]), main(["reembed", "start", "garden", "--model", NEW])]
    operation, model, same, again = capsys.readouterr().out.splitlines()
    codes.append(main(["reembed", "status", "garden", operation]))
    waiting = capsys.readouterr().out
    desk.work()
    codes.append(main(["reembed", "status", "garden", operation, "--json"]))
    ended = json.loads(capsys.readouterr().out)

    assert codes == [0, 0, 0, 0]
    assert (model, same, again) == (f"by {NEW}", operation, f"by {NEW}, which goes on already")
    assert waiting.splitlines()[0] == "status    pending"
    assert (ended["status"], desk.serves()) == ("completed", NEW)


def test_what_the_api_refuses_is_said(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.retain("Alice waters the roses.")

    code = main(["reembed", "start", "garden", "--model", "unheard-of"])

    assert code == 1
    assert "must be one that this deployment serves" in capsys.readouterr().err


def test_one_that_failed_or_is_not_there_is_a_refusal(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.retain("Alice waters the roses.")
    operation = desk.ask()
    desk.sql(
        "UPDATE hindsight.operations SET status = 'failed', error_message = 'no way' WHERE kind = 'reembed' RETURNING 1"
    )

    codes = [main(["reembed", "status", "garden", which]) for which in (operation, "0" * 32)]

    assert codes == [1, 1]
    assert "error_message  no way" in capsys.readouterr().out
