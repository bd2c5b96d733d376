"""Before Lambda takes the snapshot that later environments start from.  Called by the doors of the API's functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def before_snapshot(prepare: Callable[[], None]) -> None:
    """Has `prepare` called before a snapshot is taken; never called where none is."""
    try:
        runtime = import_module("snapshot_restore_py")
    except ImportError:  # it is part of Lambda's own Python
        return
    runtime.register_before_snapshot(prepare)
