"""What the messages of the queues say, and what becomes of one whose rows could not be reached.

Called by the jobs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.outcomes import Outcome, outcome_of


def ids_of(body: str, *names: str) -> tuple[UUID, ...]:
    """The ids that a message holds under these names.  Raises: ValueError for anything that is no such message."""
    message = json.loads(body)
    try:
        return tuple(UUID(str(message[name])) for name in names)
    except (KeyError, TypeError):
        raise ValueError(f"a message must be an object with {', '.join(names)}") from None


def kind_of(body: str) -> object:
    """The kind that a message says it is of; None for one that says nothing, and for what is no message."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message.get("kind") if isinstance(message, dict) else None


def not_done(error: HindsightError, wake_again: Callable[[], None]) -> Outcome:
    """What the queue is told of work that ended in this error.

    What may pass gets a wake-up of its own and the message is acknowledged: one given back would stay hidden for the
    queue's visibility, and count towards the dead letters, which are for crashes.
    """
    outcome = outcome_of(error)
    if outcome is not Outcome.LATER:
        return outcome
    wake_again()
    return Outcome.DONE
