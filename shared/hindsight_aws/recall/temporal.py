"""The temporal arm: what happened or was told of in the windows a question means, and what that leads to.

Called by recall/retrieval.py; pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.recall import DatedHit, Dates, Hits, LinkedHit
from hindsight_aws.recall.when.window import EARLIEST, Window, hull

MOST_ENTRIES: Final = 10
_BUCKETS: Final = 8
_UNDATED_ENTRY, _UNDATED_TARGET = 0.5, 0.3
_DECAY: Final = 0.7
_RELATION: Final[Mapping[str, float]] = {
    "causes": 2.0, "caused_by": 2.0, "enables": 1.5, "prevents": 1.5, "temporal": 1.0,
}  # fmt: skip
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TemporalArm:
    """The arm's hits by fact type, and how near each dated memory is to the middle of a window: 1 there, 0 outside."""

    hits: Mapping[str, Hits]
    proximity: Mapping[UnitId, float]


def best_date(dates: Dates) -> datetime | None:
    """The middle of when it happened, the one end that is known, or when it was told of."""
    start, end = dates.occurred_start, dates.occurred_end
    if start is not None and end is not None:
        return start + (end - start) / 2
    return start or end or dates.mentioned_at


def proximity(dates: Dates, windows: Sequence[Window]) -> float | None:
    """1 at the middle of a window, falling to 0 at its ends and staying there; None for a memory without a date.

    A window of one moment, and one without a beginning, have no middle: there, inside is 1 and outside 0 - and the
    memory touches a window of one moment, or it would not be asked about.
    """
    when = best_date(dates)
    return None if when is None else max((_in_window(when, window) for window in windows), default=0.0)


def proximity_inside(dates: Dates, windows: Sequence[Window]) -> float | None:
    """The proximity of a memory that happened or was told of in a window; None for every other one."""
    start, end = dates.occurred_start or dates.occurred_end, dates.occurred_end or dates.occurred_start
    told = dates.mentioned_at
    for window in windows:
        happened = start is not None and end is not None and start <= window.end and end >= window.start
        if happened or (told is not None and window.start <= told <= window.end):
            return proximity(dates, windows)
    return None


def entries(found: Sequence[DatedHit], windows: Sequence[Window]) -> list[DatedHit]:
    """At most ten of the hits, which come nearest first, spread over the time that is asked about.

    The time is cut in eight; the nearest of each part come first, then the second nearest, and so on.
    """
    if len(found) <= MOST_ENTRIES:
        return list(found)
    starts, last = _spread(found, windows)
    buckets: list[list[DatedHit]] = [[] for _ in range(_BUCKETS)]
    for hit in found:
        buckets[_bucket(hit.dates, starts, last)].append(hit)
    deepest = max(map(len, buckets))
    tiers = ((bucket[tier] for bucket in buckets if tier < len(bucket)) for tier in range(deepest))
    return [hit for tier in tiers for hit in sorted(tier, key=lambda of: (-of.similarity, of.id))][:MOST_ENTRIES]


def temporal_arm(
    chosen: Mapping[str, Sequence[DatedHit]],
    linked: Mapping[str, Sequence[LinkedHit]],
    windows: Sequence[Window],
    limit: int,
) -> TemporalArm:
    """The entries by how near they are to the middle, and what they lead to by that or by the way there, best first."""
    near: dict[UnitId, float] = {}
    hits: dict[str, Hits] = {}
    for fact_type, found in chosen.items():
        scores: dict[UnitId, float] = {}
        for entry in found:
            own = proximity(entry.dates, windows)
            scores[entry.id] = _UNDATED_ENTRY if own is None else own
            _note(near, entry.id, own)
        for target in linked.get(fact_type, ()):
            own = proximity(target.dates, windows)
            led_to = max(propagated(target), _UNDATED_TARGET if own is None else own)
            scores[target.id] = max(scores.get(target.id, 0.0), led_to)
            _note(near, target.id, own)
        hits[fact_type] = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]
    return TemporalArm(hits, near)


def propagated(target: LinkedHit) -> float:
    """What comes over a link from an entry: its weight, doubled for a cause, less three tenths for the step."""
    return target.weight * _RELATION.get(target.link_type, 0.0) * _DECAY


def _in_window(when: datetime, window: Window) -> float:
    if window.start <= EARLIEST + _DAY:
        return float(when <= window.end)
    half = (window.end - window.start) / 2
    if not half:
        return 1.0
    return 1 - min(abs(when - (window.start + half)) / half, 1.0)


def _spread(found: Iterable[DatedHit], windows: Sequence[Window]) -> tuple[datetime, datetime] | tuple[None, None]:
    """The time over which the hits are spread; that of a window without a beginning begins with the first of them."""
    whole = hull(windows)
    if whole is None:
        return None, None
    start, end = whole
    if start <= EARLIEST + _DAY:
        start = min((at for hit in found if (at := _placed(hit.dates)) is not None), default=end)
    return start, end


def _bucket(dates: Dates, start: datetime | None, end: datetime | None) -> int:
    at = _placed(dates)
    if at is None or start is None or end is None or end <= start:
        return 0
    return min(max(int((at - start) / (end - start) * _BUCKETS), 0), _BUCKETS - 1)


def _placed(dates: Dates) -> datetime | None:
    return dates.occurred_start or dates.mentioned_at or dates.occurred_end


def _note(near: dict[UnitId, float], unit_id: UnitId, own: float | None) -> None:
    if own is not None:
        near[unit_id] = own
