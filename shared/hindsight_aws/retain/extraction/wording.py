"""Puts a fact's parts into one text, and a date into words.  Called by record_facts and by the write set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def fact_text(what: str, when: str | None, where: str | None, who: Sequence[str], why: str | None) -> str:
    """`what`, then the other parts that it does not say already, joined with " | "."""
    said = what.casefold()
    parts = [what]
    parts += [f"When: {when}"] if when and when.casefold() not in said else []
    parts += [f"Where: {where}"] if where and where.casefold() not in said else []
    unnamed = [name for name in who if name.casefold() not in said]
    parts += [f"Involving: {', '.join(unnamed)}"] if unnamed else []
    parts += [why] if why and why.casefold() not in said else []
    return " | ".join(parts)


def says_something(text: str) -> bool:
    """Whether there is a letter or a digit in it: a fact that is only signs is none."""
    return any(char.isalnum() for char in text)


def embedded_text(text: str, start: datetime | None, end: datetime | None, entities: Sequence[str]) -> str:
    """What stands for a fact in vector space: its text, the months it happened in, the entities it names."""
    months = months_of(start, end)
    happened = f" (happened {'from' if ' to ' in months else 'in'} {months})" if months else ""
    named = f" [{', '.join(entities)}]" if entities else ""
    return f"{text}{happened}{named}"


def indexed_text(text: str, context: str | None, months: str, entities: Sequence[str]) -> str:
    """What a fact is found by in the keyword arm: its text, its context, and what neither of them says already."""
    said = text.casefold()
    unnamed = [name for name in entities if name.casefold() not in said]
    return " ".join((text, context or "", months, *unnamed))


def months_of(start: datetime | None, end: datetime | None) -> str:
    """`June 2024`, or `June 2024 to May 2025`; nothing without a start."""
    if start is None:
        return ""
    first, last = _month(start), _month(end or start)
    return first if first == last else f"{first} to {last}"


def _month(moment: datetime) -> str:
    return f"{_MONTHS[moment.month - 1]} {moment.year}"
