"""The result on one screen: what was measured, ours, the peer's on a machine of the same size, the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement; peer and goal are empty where there is none."""

    what: str
    ours: str
    peer: str = ""
    goal: str = ""


def print_table(rows: Sequence[Row]) -> None:
    """Prints aligned columns."""
    lines = [("", "ours", "peer", "goal"), *((row.what, row.ours, row.peer, row.goal) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
