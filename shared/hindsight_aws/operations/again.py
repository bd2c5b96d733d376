"""Repeats what the database ended for another's sake, so that a caller meets no deadlock that passes by itself.

Called by the use cases that are one transaction, or one lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from hindsight_aws.errors import Conflict, HindsightError, VectorsReplaced, WorkRaced, WorkSuperseded

Done = TypeVar("Done")
MOST_TRIES: Final = 4
_AT_ONCE: Final = (0.0,) * (MOST_TRIES - 1)


def again(
    attempt: Callable[[], Done],
    *,
    passing: tuple[type[HindsightError], ...] = (WorkRaced,),
    pauses_s: Sequence[float] = _AT_ONCE,
    refusal: str | None = None,
) -> Done:
    """What the attempt gives, which starts from the rows as they are each time.

    It is repeated after what is `passing`, once after each of the `pauses_s`.

    Raises: what the last attempt did, in whose place Conflict tells the `refusal`, if there is one, where others came
    in between each time; VectorsReplaced, at once, while the bank's vectors are being replaced.
    """
    for pause_s in pauses_s:
        try:
            return attempt()
        except passing as raced:
            if _lasts(raced):
                raise
            time.sleep(pause_s)
    try:
        return attempt()
    except (WorkSuperseded, WorkRaced) as raced:
        if refusal is None or _lasts(raced):
            raise
        raise Conflict(refusal) from None


def _lasts(raced: HindsightError) -> bool:
    return isinstance(raced, VectorsReplaced) and raced.until is not None
