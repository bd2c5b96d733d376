"""What is done around a snapshot of an environment: before Lambda takes it, and where it is restored."""

import random
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.api import names
from hindsight_aws.api.names import Meant
from hindsight_aws.api.snapshot import around_snapshots
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.runtime import Runtime
from hindsight_aws.settings import Settings

Hook = tuple[Callable[..., None], tuple[Any, ...]]


class Noted:
    """A process that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def prepare_for_snapshot(self) -> None:
        self.told.append("prepare")

    def renew(self) -> None:
        self.told.append("renew")


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Hook]]:
    """What is registered with Lambda's own module, by when it is called."""
    registered: dict[str, list[Hook]] = {"before_snapshot": [], "after_restore": []}
    runtime = ModuleType("snapshot_restore_py")
    for when, found in registered.items():
        register = lambda call, *arguments, found=found: found.append((call, arguments))  # noqa: E731 - two alike
        monkeypatch.setattr(runtime, f"register_{when}", register, raising=False)
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", runtime)
    return registered


def run(hooks: list[Hook]) -> None:
    """As Lambda runs them."""
    for call, arguments in hooks:
        call(*arguments)


def test_a_process_is_prepared_before_a_snapshot_and_renewed_after_its_restore(hooks: dict[str, list[Hook]]) -> None:
    process = Noted()

    around_snapshots(process)
    assert process.told == []
    run(hooks["before_snapshot"])
    run(hooks["after_restore"])

    assert process.told == ["prepare", "renew"]


def test_two_restores_of_one_snapshot_draw_different_numbers(hooks: dict[str, list[Hook]]) -> None:
    around_snapshots(Noted())
    run(hooks["before_snapshot"])
    snapshot, drawn = random.getstate(), set()

    for _ in range(3):
        random.setstate(snapshot)
        run(hooks["after_restore"])
        drawn.add(random.getrandbits(64))

    assert len(drawn) == 3


@pytest.mark.parametrize("when", ["before_snapshot", "after_restore"])
def test_what_a_name_meant_is_not_remembered_across_a_snapshot(hooks: dict[str, list[Hook]], when: str) -> None:
    """The clock that says how old it is may have stood still meanwhile."""
    bank = Meant(BankId(UUID(int=1)), "b", is_audited=None)
    names._banks[TenantId(UUID(int=2)), "b"] = time.monotonic(), bank
    around_snapshots(Noted())

    run(hooks[when])

    assert names._banks == {}


def test_where_no_snapshots_are_taken_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    process = Noted()

    around_snapshots(process)

    assert process.told == []


@pytest.mark.parametrize("when", ["prepare_for_snapshot", "renew"])
def test_a_runtime_lets_go_of_every_part_and_makes_it_anew_when_asked(when: str) -> None:
    runtime = Runtime(Settings(hindsight_environment="local", hindsight_database_url="postgresql:///x"))
    before = [runtime.store, runtime.requests, runtime.wakeups, runtime.embedder, runtime.retain_ports]

    getattr(runtime, when)()

    assert set(vars(runtime)) == {"settings", "clock"}
    after = [runtime.store, runtime.requests, runtime.wakeups, runtime.embedder, runtime.retain_ports]
    assert all(made is not kept for made, kept in zip(after, before, strict=True))


def test_a_snapshot_holds_what_first_events_would_import() -> None:
    Runtime.import_for_first_events()

    assert {"boto3", "hindsight_aws.aws.bedrock", "hindsight_aws.store.recall"} <= set(sys.modules)
