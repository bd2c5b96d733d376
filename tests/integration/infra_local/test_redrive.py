"""`redrive` against a real SQS endpoint."""

import json
from typing import Any

import pytest

from hindsight_aws.cli import main
from infra.local.stack import LocalStack


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    code = main(("redrive", "--json", *arguments))
    told = capsys.readouterr()
    return code, json.loads(told.out or "null"), told.err


def test_dead_messages_are_counted_and_go_back_only_when_asked_for(
    stack: LocalStack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL_SQS": stack.sqs_url,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "HINDSIGHT_QUEUE_INGEST_URL": stack.queues.url("work"),
    }.items():
        monkeypatch.setenv(name, value)
    # A message the fake worker does not choke on, which is all that is looked at here.
    stack.queues.send("work-dead", json.dumps({"do": "nothing"}))

    _, counted, _ = _run(capsys)
    still, _, _ = _run(capsys)
    code, moved, _ = _run(capsys, "ingest")
    left = stack.queues.counts("work").dead
    monkeypatch.setenv("HINDSIGHT_QUEUE_INGEST_URL", stack.queues.url("work-dead"))
    refused, _, why = _run(capsys)

    assert counted == [{"queue": "ingest", "waiting": 0, "dead": 1, "moving": False}]
    assert still == 0
    assert (code, moved[0]["moving"], left) == (0, True, 0)
    assert (refused, "no dead-letter queue" in why) == (1, True)
