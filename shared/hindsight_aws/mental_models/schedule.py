"""When a model's schedules have it refreshed.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from hindsight_aws.model.cron import parse
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.trigger import Trigger
from hindsight_aws.ports.mental_models import Failures

MOST_JITTER_S = 60
"""Models of one schedule come within this many seconds of each other, each always as late."""
_FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=15), timedelta(days=1)
_MOST_MENDINGS = 10


@dataclass(frozen=True, slots=True)
class Due:
    """What a schedule asks for now: a refresh, a full one, or nothing."""

    refresh: bool
    full: bool


def next_look(trigger: Trigger, page_id: UUID, now: datetime) -> datetime | None:
    """When the model's schedules are to be looked at next; None where it has none."""
    expressions = [one for one in (trigger.refresh_cron, trigger.full_refresh_cron) if one is not None]
    times = [time for one in expressions if (time := parse(one).next(now)) is not None]
    return min(times) + timedelta(seconds=page_id.int % MOST_JITTER_S) if times else None


def due_now(model: MentalModel, now: datetime, *, is_stale: bool) -> Due:
    """What the schedules ask for.

    A full one when its last time came after the last full refresh and another refresh was since; one that is not full
    when its last time came after the last refresh and the model is stale.
    """
    trigger, refreshed, full_at = model.trigger, model.last_refreshed_at, model.last_full_refreshed_at
    if trigger.full_refresh_cron is not None and refreshed is not None:
        has_moved = full_at is None or refreshed > full_at
        if has_moved and _is_past(trigger.full_refresh_cron, full_at, now):
            return Due(refresh=True, full=True)
    if trigger.refresh_cron is not None and is_stale and _is_past(trigger.refresh_cron, refreshed, now):
        return Due(refresh=True, full=False)
    return Due(refresh=False, full=False)


def mends_by_itself(failures: Failures, now: datetime, *, is_paused: bool) -> bool:
    """Whether a page that rests on what is gone is to be mended now without being asked.

    The first failure, which may be older than the deletion, counts for nothing; after each further one it waits twice
    as long, up to a day.  After ten a paused one waits for somebody.
    """
    if failures.last_at is None or failures.number < 2:  # the first
        return True
    if is_paused and failures.number >= _MOST_MENDINGS:
        return False
    wait = _FIRST_WAIT
    for _ in range(min(failures.number, _MOST_MENDINGS) - 2):
        wait = min(wait * 2, _LONGEST_WAIT)
    return now >= failures.last_at + wait


def _is_past(expression: str, last: datetime | None, now: datetime) -> bool:
    fired = parse(expression).last(now)
    return fired is not None and (last is None or fired > last)
