"""Parts of lists, and windows of time: what every read that lists takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

T = TypeVar("T")
TimeField = Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list, and how long the whole is."""

    items: Sequence[T]
    total: int


@dataclass(frozen=True, slots=True)
class Window:
    """A time window on one axis: start inclusive, end exclusive; things without a time on the axis are outside."""

    axis: TimeField | None = None
    start: datetime | None = None
    end: datetime | None = None
