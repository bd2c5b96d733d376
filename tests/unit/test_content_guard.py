"""A guard of the deployment's own is named by a setting, and a process without the guard it names does not start."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hindsight_aws.runtime import Runtime
from hindsight_aws.settings import WrongSetting

_HERE = __name__


class Guard:
    """Finds nothing."""

    def find(self, texts: Sequence[str]) -> Sequence[Sequence[tuple[int, int]]]:
        return [[] for _ in texts]


class Needy(Guard):
    """Cannot be made without an argument."""

    def __init__(self, region: str) -> None:
        self.region = region


class Blind:
    """Has nothing to ask."""


def test_retain_asks_the_guard_that_the_setting_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_CONTENT_GUARD", f"{_HERE}:Guard")

    runtime = Runtime.from_environment()

    assert isinstance(runtime.retain_ports.guard, Guard)


def test_without_the_setting_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDSIGHT_CONTENT_GUARD", raising=False)

    assert Runtime.from_environment().content_guard is None


@pytest.mark.parametrize(
    "named", ["no.such.module:Guard", f"{_HERE}:Absent", f"{_HERE}:Needy", f"{_HERE}:Blind", "Guard", "a:b:c"]
)
def test_a_guard_that_cannot_be_used_stops_the_process(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("HINDSIGHT_CONTENT_GUARD", named)

    with pytest.raises(WrongSetting, match="HINDSIGHT_CONTENT_GUARD"):
        Runtime.from_environment()
