"""The sweep door: a schedule's tick.  Calls jobs/sweep with the parts that runtime.py builds."""

from typing import Any

from hindsight_aws.jobs.sweep import sweep
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()


def handler(_event: dict[str, Any], _context: object) -> dict[str, int]:
    """Wakes stranded work; answers how much of each kind there was."""
    return sweep(_runtime.store, _runtime.wakeups, _runtime.settings, _runtime.models_door).woken
