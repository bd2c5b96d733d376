"""The sweep door: a schedule's tick.  Calls jobs/rest with the parts that runtime.py builds."""

from typing import Any

from hindsight_aws.jobs.rest import sweep_if_wanted
from hindsight_aws.jobs.sweep import SweepReport, sweep
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()


@_runtime.watched("sweep")
def handler(event: dict[str, Any], _context: object) -> dict[str, int]:
    """Wakes stranded work; answers how much of each kind there was.

    An operator's `{"always": true}` asks the database even where the marks say that it may rest.
    """
    parts = _runtime
    always = event.get("always") is True
    return sweep_if_wanted(
        parts.sweep_marks, parts.store, parts.settings, parts.clock.now(), _sweep, always=always
    ).woken


def _sweep() -> SweepReport:
    parts = _runtime
    return sweep(parts.store, parts.wakeups, parts.settings, parts.clock, parts.pages_door, parts.erasure_ports)
