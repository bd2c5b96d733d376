"""A second opinion: moto's interpreter runs the same definition with the same steps and must tell the same story."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from infra.local.workflow import machines
from tests.support.workflow import Script, run_here, run_in_moto
from tests.unit.infra_local.workflow.scripts import SCRIPTS, START

pytestmark = pytest.mark.filterwarnings("default")  # moto's own


@pytest.mark.parametrize("make", SCRIPTS, ids=lambda make: make.__name__)
def test_both_interpreters_agree(make: Callable[[], Script], monkeypatch: pytest.MonkeyPatch) -> None:
    ours = run_here(machines()["reflect"], make(), START)
    theirs = run_in_moto(monkeypatch, "reflect", make(), START)

    assert ours == theirs
