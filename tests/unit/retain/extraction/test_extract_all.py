"""Many chunks at once: what was found is kept, also when keeping fails."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hindsight_aws.errors import DatabaseUnavailable, HindsightError, WorkDeferred, WorkRaced, WorkSuperseded
from hindsight_aws.ports.model_gateway import ModelUsage
from hindsight_aws.retain.extraction.extract_all import Extractions, Wanted, extract_all
from hindsight_aws.retain.extraction.found import Extraction
from hindsight_aws.retain.extraction.passages import Passage
from hindsight_aws.retain.extraction.request import Extractor
from tests.support.models import ScriptedModel

EXTRACTOR = Extractor("m", tenant="t", bank="b")


class Keeper:
    """Keeps what it is given, and raises the first times it is asked."""

    def __init__(self, *errors: HindsightError) -> None:
        self._errors = list(errors)
        self.kept: dict[str, Extraction] = {}
        self.asked = 0

    def __call__(self, found: Mapping[str, Extraction]) -> None:
        self.asked += 1
        if self._errors:
            raise self._errors.pop(0)
        self.kept |= found


def _extract(keeper: Keeper, model: ScriptedModel, usages: list[ModelUsage], chunks: int = 60) -> Extractions:
    wanted = [Wanted(str(n), EXTRACTOR, Passage(f"Line {n}.", n, chunks, None, None, {})) for n in range(chunks)]
    return extract_all(model, wanted, usages.append, keeper, in_flight=3, give_up_at=None)


@pytest.mark.parametrize("error", [DatabaseUnavailable("gone"), WorkRaced("raced")], ids=["gone", "raced"])
def test_when_keeping_fails_once_all_that_was_found_is_kept_in_the_end(error: HindsightError) -> None:
    keeper, model, usages = Keeper(error), ScriptedModel(), list[ModelUsage]()

    result = _extract(keeper, model, usages)

    assert isinstance(result.stopped_by, WorkDeferred)
    assert keeper.asked == 2
    assert keeper.kept == result.found
    assert len(keeper.kept) == len(model.calls) == len(usages)
    assert 16 <= len(model.calls) < 60


def test_when_keeping_stays_impossible_the_calls_under_way_are_still_accounted_for() -> None:
    keeper, model, usages = Keeper(*[DatabaseUnavailable("gone")] * 2), ScriptedModel(), list[ModelUsage]()

    with pytest.raises(DatabaseUnavailable):
        _extract(keeper, model, usages)

    assert len(usages) == len(model.calls) < 60


def test_an_attempt_that_was_overtaken_stops_and_keeps_nothing() -> None:
    keeper, model, usages = Keeper(WorkSuperseded("taken over")), ScriptedModel(), list[ModelUsage]()

    result = _extract(keeper, model, usages)

    assert isinstance(result.stopped_by, WorkSuperseded)
    assert (keeper.asked, keeper.kept) == (1, {})
    assert len(usages) == len(model.calls) < 60
