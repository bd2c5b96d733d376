"""Reads the times callers give.  Called by the API for the wire's texts and by intake for every item."""

from __future__ import annotations

from datetime import UTC, datetime

from hindsight_aws.errors import InvalidField
from hindsight_aws.retain.intake.requests import Undated

_FIRST_YEAR, _LAST_YEAR = 2, 9998


def read_timestamp(raw: str | datetime | None, field: str) -> datetime | Undated | None:
    """What a caller's timestamp says: an aware time, "unset" (any case), or None for none and for an empty text.

    Takes every ISO 8601 form that `datetime.fromisoformat` reads; digits past the microsecond are cut, a time without
    an offset is UTC.  Raises: InvalidField.
    """
    if raw is None or isinstance(raw, datetime):
        return None if raw is None else check_timestamp(raw, field)
    text = raw.strip()
    if not text:
        return None
    if text.lower() == "unset":
        return "unset"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidField(field, "must be an ISO 8601 date or time, or 'unset'") from None
    return check_timestamp(moment, field)


def check_timestamp(moment: datetime, field: str) -> datetime:
    """The moment, aware.

    Raises InvalidField for the years 1 and 9999, which stand for "unknown" wherever they turn up: here or in UTC.
    """
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    years = [aware.year]
    if _FIRST_YEAR <= aware.year <= _LAST_YEAR:  # the conversion of any other may overflow
        years.append(aware.astimezone(UTC).year)
    if not all(_FIRST_YEAR <= year <= _LAST_YEAR for year in years):
        raise InvalidField(field, f"is not a real date: its year is {years[-1]}")
    return aware
