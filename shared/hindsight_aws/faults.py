"""Named points where a test may strike: `reached("retain.before_commit")`. Called by use cases and adapters.

A no-op unless HINDSIGHT_FAULTS names the local stack's fault harness (`host:port`), which the cloud never sets. The
address is read here, once, because the switch must not depend on how far the settings have been loaded.
"""

import json
import os
import signal
import socket
from typing import Final

_ADDRESS: Final = os.environ.get("HINDSIGHT_FAULTS", "")
_FUNCTION: Final = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
_PATIENCE: Final = 600.0


class InjectedFault(RuntimeError):
    """A test asked for an error at this point."""


def reached(point: str) -> None:
    """Tells the harness that this point is reached and does what it answers: go on, wait, die, or raise.

    A pause, and the cutting of the database's wire, happen in the harness before it answers.

    Raises: InjectedFault, when the harness says so.
    """
    if _ADDRESS:
        _obey(_ask(_ADDRESS, point), point)


def _ask(address: str, point: str) -> str:
    host, _, port = address.rpartition(":")
    report = {"point": point, "function": _FUNCTION, "pid": os.getpid()}
    with (
        socket.create_connection((host, int(port)), timeout=_PATIENCE) as connection,
        connection.makefile("rw") as stream,
    ):
        stream.write(json.dumps(report) + "\n")
        stream.flush()
        return stream.readline().strip()


def _obey(action: str, point: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise InjectedFault(point)
