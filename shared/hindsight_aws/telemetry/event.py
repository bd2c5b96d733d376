"""The event in hand: which function handles it, and whose work it is.  Read by each log line, measurement and span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hindsight_aws.model.metric import Metric

_NO_IDS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Event:
    """One invocation.  `ids` are of those the work is for (`tenant`, `bank`, `operation`, `scope`, `run`).

    `measured` are metrics that count events, which count this one once.
    """

    function: str = ""
    request_id: str = ""
    is_cold_start: bool = False
    ids: Mapping[str, str] = _NO_IDS
    measured: set[Metric] = field(default_factory=set)


_current = Event()


def current() -> Event:
    """The event in hand; one without names between events, and in a process that handles none."""
    return _current


def begin(event: Event) -> None:
    """From here on everything told is about this event."""
    global _current  # noqa: PLW0603 - a process handles one event at a time
    _current = event


def about(**ids: object) -> None:
    """From here on everything told is about these as well."""
    global _current  # noqa: PLW0603 - as above
    told = {name: str(value) for name, value in ids.items() if value is not None}
    _current = replace(_current, ids={**_current.ids, **told})


def about_another() -> None:
    """From here on the event is about nobody yet: an event of several messages is about each in turn."""
    global _current  # noqa: PLW0603 - as above
    _current = replace(_current, ids=_NO_IDS)
