"""Marks outside the database that say whether work may be waiting in it, so that a paused one need not be asked.

Two objects, each written by one kind of process and never changed by another, so that no writing can undo another.
Kept by aws/marks.py; who commits work sets the one, the sweep reads both and writes the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

TOUCHED: Final = "marks/touched"
SWEPT: Final = "marks/swept"
"""The keys of the two objects, which roles name one by one."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What the last sweep that was done left behind: when it began, and when the next row becomes due (None: never).

    `settings` is a digest of what it took for due.
    """

    at: datetime
    next_due: datetime | None
    settings: str


class WorkMark(Protocol):
    """The mark of those who commit work."""

    def touch(self) -> None:
        """Says that work may be committed from now on, unless this process said so within the last minute.

        Called before a transaction begins, so that whoever dies after the commit has said so.  Never raises: what could
        not be said is logged, and found by the sweep that comes in any case.
        """
        ...


class SweepMarks(Protocol):
    """What the sweep knows without the database.  Every method may raise FilesUnavailable."""

    def touched_at(self) -> datetime | None:
        """When somebody last said that he may commit work, by the clock of whoever keeps the mark; None: nobody did."""
        ...

    def swept(self) -> Swept | None:
        """What the last sweep left; None when there was none, or what it left cannot be read."""
        ...

    def note(self, swept: Swept) -> None:
        """Writes down what a sweep leaves."""
        ...
