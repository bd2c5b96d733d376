"""Plays every case of a file against the whole local stack, over HTTP, with a scripted model."""

from __future__ import annotations

import pytest

from tests.cases.checking import Outcome, check
from tests.cases.playing import Player
from tests.cases.reading import Case
from tests.support.world import World

pytestmark = pytest.mark.timeout(240)


def test_the_case_holds(case: Case, world: World) -> None:
    play = Player(case, world).run()

    check(Outcome(case, play, world))
