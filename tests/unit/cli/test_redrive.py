"""Which queues `redrive` knows, and what it refuses."""

from __future__ import annotations

import os

import pytest

from hindsight_aws.cli import main, preflight
from hindsight_aws.cli.queues import queue_settings, queue_urls
from hindsight_aws.settings import Settings
from infra.topology import TOPOLOGY


def test_the_dead_letters_of_every_queue_of_the_topology_can_be_moved() -> None:
    assert queue_settings() == {queue.name: queue.url_setting.lower() for queue in TOPOLOGY.queues}


def test_queues_without_a_url_are_left_out() -> None:
    assert queue_urls(Settings(hindsight_queue_send_url="http://q/send")) == {"send": "http://q/send"}


@pytest.mark.parametrize(
    ("queue", "sentence"), [("", "name the queues"), ("http://127.0.0.1:9/1/ingest", "no URL of queue 'other' is set")]
)
def test_a_queue_that_is_not_known_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, queue: str, sentence: str
) -> None:
    monkeypatch.setenv("HINDSIGHT_QUEUE_INGEST_URL", queue)

    code = main(("redrive", "other"))

    assert code == 1
    assert sentence in capsys.readouterr().err


def test_the_queues_may_be_those_of_a_deployed_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"HINDSIGHT_QUEUE_DELIVER_URL": "http://127.0.0.1:9/1/deliver"}
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(preflight, "variables_of", {"sweep-1": known}.__getitem__)

    code = main(("redrive", "other", "--settings-of", "sweep-1"))

    assert code == 1
    assert "known are deliver" in capsys.readouterr().err
