"""What every command is made of: its registration, its answer, and how that is printed.  Used by each noun's file.

A noun's file has `register(commands)`, called by arguments.py; its commands take what was parsed and return an Answer.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    Commands = _SubParsersAction[ArgumentParser]

_SPANS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class Exit(IntEnum):
    """What the command line returns; docs/howto/operations-cli.md lists them."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    OUT_OF_REACH = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found or did: lines for people, and the same as one JSON document for machines."""

    lines: Sequence[str]
    document: object
    exit_code: Exit = Exit.DONE


class NotConfirmed(Exception):
    """A command that cannot be undone was given without --yes; the message says what it would do."""


def group(commands: Commands, name: str, says: str) -> Commands:
    """The actions of a noun, to be filled by `add`."""
    return commands.add_parser(name, help=says, description=says).add_subparsers(required=True, metavar="action")


def add(
    commands: Commands,
    name: str,
    run: Callable[[Namespace], Answer],
    says: str,
    *,
    needs_database: bool = True,
    needs_yes: bool = False,
) -> ArgumentParser:
    """A command with what all have: --json; and --database-url and --yes where it needs them."""
    command = commands.add_parser(name, help=says, description=says)
    command.set_defaults(run=run)
    command.add_argument("--json", action="store_true", help="print one JSON document, for machines")
    if needs_database:
        command.add_argument("--database-url", default="", help="of an administrator; default: HINDSIGHT_DATABASE_URL")
    if needs_yes:
        command.add_argument("--yes", action="store_true", help="do it: this cannot be undone")
    return command


def confirmed(chosen: Namespace, would: str) -> None:
    """Lets a dangerous command pass that was given with --yes.  Raises NotConfirmed, saying what it would do."""
    if not chosen.yes:
        raise NotConfirmed(f"this would {would}; give --yes to do it")


def show(answer: Answer, *, as_json: bool) -> None:
    """Prints an answer; that its reader reads no further, as `head` does, is no error."""
    document = [json.dumps(answer.document, ensure_ascii=False, indent=2, default=_as_json)] if as_json else []
    try:
        for line in document or answer.lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer would be tried again, and complained of, when Python ends.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _as_json(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def complain(sentence: str, *, as_json: bool) -> None:
    """Says on stderr what is wrong."""
    print(
        json.dumps({"error": sentence}, ensure_ascii=False) if as_json else f"hindsight-aws: {sentence}",
        file=sys.stderr,
    )


def words(text: str) -> tuple[str, ...]:
    """The words of a comma-separated argument."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def span(text: str) -> timedelta:
    """A span of time such as 30m, 24h, 7d or 8w."""
    unit = _SPANS.get(text[-1:])
    number = text[:-1]
    if unit is None or not (number.isascii() and number.isdigit()):
        raise ArgumentTypeError("a span of time such as 30m, 24h, 7d or 8w")
    try:
        return unit * int(number)
    except (OverflowError, ValueError):
        raise ArgumentTypeError("a span of time that ends before the calendar does") from None


def moment(text: str) -> datetime:
    """An ISO date or time (UTC where it names no zone), or a span from now such as 30m, 24h, 7d or 8w."""
    try:
        return datetime.now(UTC) + span(text)
    except (ArgumentTypeError, OverflowError):
        pass
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("an ISO date such as 2027-01-31, or a span such as 12h, 30d or 8w") from None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
