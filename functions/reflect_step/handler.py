"""The reflect step door: one task of the reflect workflow.  Calls jobs/ with the parts that runtime.py builds.

What is raised here is an error of the workflow, matched by its class's name.
"""

from typing import Any

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.reflect import run_step
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()


@_runtime.watched("reflect_step")
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """The workflow's next payload, ids only.  A known error is raised bare: its trace would travel in the payload."""
    try:
        return run_step(_runtime.reflect_ports, event, _runtime.wakeups.wake_refreshes)
    except HindsightError as error:
        raise error.with_traceback(None) from None
