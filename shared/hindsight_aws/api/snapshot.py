"""Around the snapshot that Lambda takes of a function once, and from which later environments start, alike to the byte.

Called by the doors of the API's functions; calls the process that it is given.
"""

from __future__ import annotations

import random
import ssl
from importlib import import_module
from os import urandom
from typing import Final, Protocol

from hindsight_aws.api.gateway import close_loop
from hindsight_aws.api.names import forget_names

_ENTROPY_BYTES: Final = 48


class SnapshotProcess(Protocol):
    """What a snapshot is taken of."""

    def prepare_for_snapshot(self) -> None:
        """Promises that what first events need is imported, and that nothing is open, signed or remembered."""
        ...

    def renew(self) -> None:
        """Promises the same of whatever was remembered nevertheless."""
        ...


def around_snapshots(process: SnapshotProcess) -> None:
    """Has the process made ready before a snapshot is taken, and renewed where it is restored; nothing elsewhere.

    Guarantees: two environments restored from one snapshot share no socket, no credential and no random number.
    """
    try:
        runtime = import_module("snapshot_restore_py")
    except ImportError:  # it is part of Lambda's own Python
        return
    runtime.register_before_snapshot(_let_go, process)
    runtime.register_after_restore(_renew, process)


def _let_go(process: SnapshotProcess) -> None:
    process.prepare_for_snapshot()
    forget_names()
    close_loop()


def _renew(process: SnapshotProcess) -> None:
    """`uuid4` and `secrets` ask the kernel each time, which Lambda reseeds; two generators of the process do not."""
    random.seed()
    ssl.RAND_add(urandom(_ENTROPY_BYTES), _ENTROPY_BYTES)
    process.renew()
    forget_names()
