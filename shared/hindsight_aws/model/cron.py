"""Times named by five cron fields (minute, hour, day of month, month, day of week), in UTC.  Pure.

As in crontab(5): where both days are limited, either will do; 0 and 7 are Sunday; months and days may be named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_FIELDS: Final = 5
_NAMES: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
_PLAIN: Final = re.compile(rf"(?:[0-9*,/-]|{_NAMES})+", re.ASCII | re.IGNORECASE)
"""What crontab(5) knows; the library also reads seconds, nicknames, hashed and random times, which others would not."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule that has a next time; made by `parse`."""

    expression: str

    def last(self, at: datetime) -> datetime | None:
        """The latest time of the schedule that is not after `at`; None where it has none."""
        return self._time(_minute(at) + timedelta(minutes=1), is_next=False)

    def next(self, at: datetime) -> datetime | None:
        """The earliest time of the schedule after `at`; None where it has none."""
        return self._time(_minute(at), is_next=True)

    def _time(self, start: datetime, *, is_next: bool) -> datetime | None:
        # Imported where it is used: it costs 50 ms, and most functions that load this module never look at a schedule.
        from croniter import CroniterBadDateError, croniter

        times = croniter(self.expression, start, ret_type=datetime)
        try:
            return times.get_next(datetime) if is_next else times.get_prev(datetime)
        except CroniterBadDateError:
            return None


def parse(expression: str) -> Cron:
    """The schedule.  Raises ValueError saying what is wrong with it."""
    from croniter import croniter

    fields = expression.split()
    if len(fields) != _FIELDS:
        raise ValueError("must have five fields: minute, hour, day of month, month, day of week")
    strange = next((field for field in fields if not _PLAIN.fullmatch(field)), None)
    if strange is not None:
        raise ValueError(f"has a field that is no number, name, range or step: {strange!r}")
    if not croniter.is_valid(expression):
        raise ValueError(f"has a field out of range: {expression!r}")
    cron = Cron(" ".join(fields))
    if cron.next(datetime(2024, 1, 1, tzinfo=UTC)) is None:
        raise ValueError("names a time that never comes")
    return cron


def _minute(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(second=0, microsecond=0)
