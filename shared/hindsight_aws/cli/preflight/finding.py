"""What `doctor` says of one thing that it looked at.  Made by the checks beside it, shown by health.py."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a thing stands: NOT_KNOWN is what nobody here may ask, or can reach; it is neither good nor bad."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it stands, in a sentence that says what to do where something is to be done."""

    state: State
    sentence: str


def ok(sentence: str) -> Finding:
    """It is as it should be."""
    return Finding(State.OK, sentence)


def warning(sentence: str) -> Finding:
    """It works, and somebody ought to look at it."""
    return Finding(State.WARNING, sentence)


def wrong(sentence: str) -> Finding:
    """The deployment does not do what it is for until this is mended."""
    return Finding(State.WRONG, sentence)


def not_known(sentence: str) -> Finding:
    """It cannot be found out from here."""
    return Finding(State.NOT_KNOWN, sentence)
