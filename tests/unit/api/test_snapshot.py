"""What is done before Lambda takes a snapshot of an environment."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from hindsight_aws.api.snapshot import before_snapshot
from hindsight_aws.runtime import Runtime


def test_lambda_is_told_what_to_do_before_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Callable[[], None]] = []
    runtime = ModuleType("snapshot_restore_py")
    monkeypatch.setattr(runtime, "register_before_snapshot", told.append, raising=False)
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", runtime)

    before_snapshot(Runtime.import_for_first_events)

    assert told == [Runtime.import_for_first_events]


def test_where_no_snapshots_are_taken_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)

    before_snapshot(lambda: pytest.fail("called"))


def test_a_snapshot_holds_what_first_events_would_import() -> None:
    Runtime.import_for_first_events()

    assert {"boto3", "hindsight_aws.aws.bedrock", "hindsight_aws.store.recall"} <= set(sys.modules)
