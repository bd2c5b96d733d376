"""What the messages of the queues say, and what becomes of one whose rows could not be reached.

Called by the jobs.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Final, TypeVar
from uuid import UUID

from hindsight_aws.errors import HindsightError, may_pass
from hindsight_aws.jobs.outcomes import Outcome, outcome_of
from hindsight_aws.telemetry import about, about_another

_M = TypeVar("_M")
_log = logging.getLogger(__name__)

TRY_AGAIN_S: Final = 60
"""When work is looked at again whose rows could not be read or written, or for which another raced."""


def ids_of(body: str, *names: str) -> tuple[UUID, ...]:
    """The ids that a message holds under these names; what is told from here on is about them.

    Raises: ValueError for anything that is no such message.
    """
    message = json.loads(body)
    try:
        ids = tuple(UUID(str(message[name])) for name in names)
    except (KeyError, TypeError):
        raise ValueError(f"a message must be an object with {', '.join(names)}") from None
    about(**{name.removesuffix("_id"): id_ for name, id_ in zip(names, ids, strict=True)})
    return ids


def kind_of(body: str) -> object:
    """The kind that a message says it is of; None for one that says nothing, and for what is no message."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message.get("kind") if isinstance(message, dict) else None


def each(handle: Callable[[_M], Outcome]) -> Callable[[_M], None]:
    """The handler of one message of several: what crashes it is logged, since Lambda is only told that it did.

    So is work that was given up, by the ids that the message holds.
    """

    def handled(record: _M) -> None:  # Powertools names its argument
        about_another()
        try:
            outcome = handle(record)
        except Exception:
            _log.exception("the handling of a message crashed: it comes again")
            raise
        if outcome is Outcome.GIVEN_UP:
            _log.warning("what a message asks for was given up")  # its ids are in each line of the log

    return handled


def not_done(error: HindsightError, wake_again: Callable[[], None]) -> Outcome:
    """What became of work that ended in this error.

    What may pass gets a wake-up of its own and the message is acknowledged: one given back would stay hidden for the
    queue's visibility, and count towards the dead letters, which are for crashes.
    """
    if may_pass(type(error)):
        wake_again()
    return outcome_of(error)
