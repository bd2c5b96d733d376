"""What a refresh is to do, from what there is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from hindsight_aws.mental_models.refresh.decide import Decision, Sources, decide
from hindsight_aws.mental_models.schedule import MOST_JITTER_S, next_look
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.trigger import Creator, Trigger
from hindsight_aws.ports.mental_models import ScopeReading

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODEL = MentalModel(
    page_id=uuid4(),
    id="plants",
    name="Plants",
    source_query="What grows?",
    content="# Plants\n",
    structure=None,
    tags=(),
    max_tokens=2048,
    trigger=Trigger(mode="delta"),
    creator=Creator("dev"),
    response=None,
    version=1,
    written_query="What grows?",
    is_paused=False,
    last_refreshed_at=NOON,
    last_full_refreshed_at=NOON,
    last_memory_seen_at=NOON,
    last_refresh_failed_at=None,
    created_at=NOON,
)
READING = ScopeReading(NOON, "1:1:", NOON, holds=True, unseen=1, oldest_unseen=NOON + timedelta(seconds=1))
SOURCES = Sources(READING, cited=2, gone=0, is_consolidating=False, has_siblings=False)
NOTHING_NEW = replace(READING, unseen=0, oldest_unseen=None)


def _decided(model: MentalModel = MODEL, sources: Sources = SOURCES, *, wants_full: bool = False) -> Decision:
    return decide(model, sources, wants_full=wants_full)


@pytest.mark.parametrize(
    ("changed", "wants_full", "expected"),
    [
        ({}, False, ("delta", "delta", None, ("refresh_ops",))),
        ({}, True, ("full", "full", None, ("refresh_document",))),
        ({"content": " "}, False, ("delta", "full", "no_baseline_content", ("refresh_document",))),
        ({"source_query": "Who?"}, False, ("delta", "full", "source_query_changed", ("refresh_document",))),
        ({"source_query": "Who?", "written_query": None}, False, ("delta", "delta", None, ("refresh_ops",))),
        ({"trigger": Trigger()}, False, ("full", "full", None, ("refresh_document",))),
    ],
)
def test_the_mode_follows_from_the_page(
    changed: dict[str, object], wants_full: bool, expected: tuple[object, ...]
) -> None:
    """[X066] Delta needs a text that answers the same question; the reason it is not one is recorded."""
    decision = _decided(replace(MODEL, **changed), wants_full=wants_full)  # type: ignore[arg-type]  # a field each

    assert (decision.requested, decision.effective, decision.fallback, decision.endings) == expected


def test_without_news_nothing_is_asked() -> None:
    """[X058] A delta of a page that has seen all there is."""
    decision = _decided(sources=replace(SOURCES, reading=NOTHING_NEW))

    assert (decision.endings, decision.searches) == ((), False)


@pytest.mark.parametrize(
    ("has_siblings", "excluded", "cited", "endings"),
    [(True, False, 0, ("refresh_document",)), (True, True, 0, ()), (True, False, 2, ()), (False, False, 0, ())],
)
def test_other_pages_are_a_source_for_a_page_that_was_never_written_from_memories(
    has_siblings: bool, excluded: bool, cited: int, endings: tuple[str, ...]
) -> None:
    model = replace(MODEL, trigger=Trigger(exclude_mental_models=excluded))
    reading = replace(NOTHING_NEW, holds=False)
    sources = replace(SOURCES, reading=reading, has_siblings=has_siblings, cited=cited)

    assert _decided(model, sources).endings == endings


@pytest.mark.parametrize(
    ("gone", "consolidating", "unseen", "endings", "deferred"),
    [
        (1, False, 0, ("retract",), None),
        (1, False, 1, ("retract", "refresh_ops"), None),
        (1, True, 1, ("refresh_ops",), "consolidation_pending"),
        (1, True, 0, (), "consolidation_pending"),
        (2, True, 0, ("refresh_document",), None),
    ],
)
def test_what_is_gone_is_taken_out_first(
    gone: int, consolidating: bool, unseen: int, endings: tuple[str, ...], deferred: str | None
) -> None:
    """[X067] Some gone: retract, unless consolidation is pending; all gone: the page is written anew."""
    reading = READING if unseen else NOTHING_NEW
    decision = _decided(sources=replace(SOURCES, gone=gone, is_consolidating=consolidating, reading=reading))

    assert (decision.endings, decision.deferred) == (endings, deferred)


def test_a_late_commit_widens_the_window() -> None:
    """[X059] What was committed late carries an earlier time than what was seen."""
    late = replace(READING, oldest_unseen=NOON - timedelta(seconds=5))

    decision = _decided(sources=replace(SOURCES, reading=late))

    assert decision.after is not None
    assert decision.after < NOON - timedelta(seconds=5)


def test_models_of_one_schedule_are_looked_at_a_little_apart() -> None:
    """[X073] Jittered by less than a minute, each model always by as much."""
    looks = [next_look(Trigger(refresh_cron="0 * * * *"), uuid4(), NOON) for _ in range(20)]

    spread = {(look - (NOON + timedelta(hours=1))).total_seconds() for look in looks if look is not None}
    assert len(spread) > 1
    assert all(0 <= seconds < MOST_JITTER_S for seconds in spread)
