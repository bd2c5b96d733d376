"""A packaged function's process from its start to its second event: prints what each step took, as JSON.

Run by cold.py in fresh processes: `python -I -S -B cold_process.py <search path>...`, the event on standard input.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

_TIME_LEFT_MS: Final = 60_000


class _Context:
    """The part of Lambda's context that the doors read."""

    aws_request_id = "cold"

    def get_remaining_time_in_millis(self) -> int:
        return _TIME_LEFT_MS


def _timed(call: Callable[[], Any]) -> tuple[Any, list[float]]:
    """What the call gave, and its wall and CPU milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    given = call()
    return given, [(time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000]


def main(*search_path: str) -> None:
    """Imports the handler's module, then hands it the event twice; that there is nothing to do is an answer as well."""
    event = json.load(sys.stdin)
    sys.path[:0] = search_path
    door, imported = _timed(lambda: importlib.import_module("handler"))

    def handle() -> Any:
        try:
            return door.handler(event, _Context())
        except Exception as error:
            if type(error).__name__ != "NotFound":  # by its name, as the workflow goes
                raise
            return None

    answer, first = _timed(handle)
    _, second = _timed(handle)
    status = answer.get("statusCode") if isinstance(answer, dict) else None
    print(json.dumps({"imported": imported, "first": first, "second": second, "status": status}))


if __name__ == "__main__":
    main(*sys.argv[1:])
