"""Multiplicative boosts of a candidate's base score: how recent it is, how near in time and how well proven.

Called by recall/ranking.py; pure.
"""

from __future__ import annotations

import math
from calendar import monthrange
from datetime import datetime, timedelta

from hindsight_aws.model.recalled import RecalledUnit

NEUTRAL = 0.5
_RECENCY_WEIGHT = 0.2
_TIME_WEIGHT = 0.2
_PROOF_WEIGHT = 0.1
_YEAR_DAYS = 365
_LEAST_RECENCY = 0.1
_DAY = timedelta(days=1)


def boosted(base: float, unit: RecalledUnit, now: datetime, proximity: float | None = None) -> float:
    """The base score times (1 + 0.2(recency - ½)), (1 + 0.2(proximity - ½)) and (1 + 0.1(proof - ½)).

    Together at most 27 % up, 23 % down.  `proximity` to the middle of the time asked about is neutral when None.
    """
    near = NEUTRAL if proximity is None else proximity
    return (
        base
        * (1 + _RECENCY_WEIGHT * (recency(unit, now) - NEUTRAL))
        * (1 + _TIME_WEIGHT * (near - NEUTRAL))
        * (1 + _PROOF_WEIGHT * (proof(unit.proof_count) - NEUTRAL))
    )


def recency(unit: RecalledUnit, now: datetime) -> float:
    """1 for now and the future, falling by 1 a year to 0.1; ½ for a memory without a date.

    A memory that spans a calendar month or year is only known to lie in it: its age counts from the end, and it is
    never fresh.
    """
    start, end = unit.occurred_start, unit.occurred_end
    if start is not None and end is not None and _is_coarse(start, end):
        return min(_faded(now - end), NEUTRAL)
    when = start or unit.mentioned_at or end
    return NEUTRAL if when is None else _faded(now - when)


def proof(count: int) -> float:
    """½ for one supporting fact, growing with the logarithm of their number to 1; ½ for none as well."""
    return NEUTRAL if count < 1 else min(max(NEUTRAL + math.log(count) / 10, 0.0), 1.0)


def _faded(age: timedelta) -> float:
    return max(_LEAST_RECENCY, min(1.0, 1 - age / _DAY / _YEAR_DAYS))


def _is_coarse(start: datetime, end: datetime) -> bool:
    span = end - start
    month = timedelta(days=monthrange(start.year, start.month)[1])
    year = timedelta(days=366 if monthrange(start.year, 2)[1] == 29 else 365)
    return any(period - _DAY <= span <= period for period in (month, year))
