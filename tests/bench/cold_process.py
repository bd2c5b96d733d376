"""A function's process from its start to its second event: prints what each step took, as JSON.

Run by cold.py in fresh processes: `python -m tests.bench.cold_process <function>`, the event on standard input.
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


def main(function: str) -> None:
    """Imports the handler's module, then hands it the event twice; that there is nothing to do is an answer as well."""
    event = json.load(sys.stdin)
    door, imported = _timed(lambda: importlib.import_module(f"functions.{function}.handler"))
    nothing_to_do = importlib.import_module("hindsight_aws.errors").NotFound

    def handle() -> Any:
        try:
            return door.handler(event, _Context())
        except nothing_to_do:
            return None

    answer, first = _timed(handle)
    _, second = _timed(handle)
    status = answer.get("statusCode") if isinstance(answer, dict) else None
    print(json.dumps({"imported": imported, "first": first, "second": second, "status": status}))


if __name__ == "__main__":
    main(sys.argv[1])
