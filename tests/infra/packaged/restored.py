"""Takes a "snapshot" of a packaged function in use and restores it twice: each fork prints what is its own, as JSON.

`python -I -S -B restored.py <event file> <search path>...`, run by test_packaged.py. A fork inherits the memory, as a
restored environment does; what Python itself renews in a fork, and no restore would, is put back before the hooks run.
"""

import importlib
import json
import os
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_EVENT = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
sys.path[:0] = sys.argv[2:]
_before: list[Any] = []
_after: list[Any] = []


class _Context:
    aws_request_id = "restored"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def _hooks() -> ModuleType:
    """In place of Lambda's module."""
    runtime = ModuleType("snapshot_restore_py")
    vars(runtime)["register_before_snapshot"] = lambda call, *arguments: _before.append((call, arguments))
    vars(runtime)["register_after_restore"] = lambda call, *arguments: _after.append((call, arguments))
    return runtime


def _sockets() -> list[str]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(entry.readlink()))
        except OSError:  # the listing's own
            continue
    return sorted(place for place in found if place.startswith("socket:"))


def _run(hooks: list[Any]) -> None:
    for call, arguments in hooks:
        call(*arguments)


def _live(door: Any, snapshot: Any) -> dict[str, Any]:
    """What one restored environment does and holds."""
    random.setstate(snapshot)
    inherited = _sockets()
    _run(_after)
    drawn = random.getrandbits(64)
    answer = door.handler(_EVENT, _Context())
    body = json.loads(answer["body"])
    connection = door._runtime.store._holder.get()
    return {
        "status": answer["statusCode"],
        "operation": body.get("operation_id"),
        "random": drawn,
        "backend": connection.info.backend_pid,
        "inherited": inherited,
        "sockets": _sockets(),
    }


def main() -> None:
    sys.modules["snapshot_restore_py"] = _hooks()
    door = importlib.import_module("handler")
    door.handler(_EVENT, _Context())  # an environment never is, but may be: used before its snapshot
    _run(_before)
    open_at_snapshot = _sockets()
    forgotten = sorted(vars(door._runtime))
    snapshot = random.getstate()
    for _ in range(2):
        sys.stdout.flush()
        if os.fork() == 0:
            said = _live(door, snapshot) | {"at_snapshot": open_at_snapshot, "parts": forgotten}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()
            os._exit(0)
    for _ in range(2):
        os.wait()


main()
