"""Leaves a database that may pause alone until work may be due in it, by marks that lie outside.

Called by functions/sweep; calls the sweep, and the marks where there are any.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.jobs.sweep import SweepReport, due_by
from hindsight_aws.ports.marks import SweepMarks, Swept
from hindsight_aws.ports.store import Store
from hindsight_aws.settings import Settings

LONGEST_REST: Final = timedelta(hours=12)
"""A sweep comes in any case after this time: for a mark that was lost, and for what is only kept for some time."""
SETTLES_AFTER: Final = timedelta(minutes=5)
"""What is committed under a mark is so by then: a process marks again after a minute, and transactions are short."""
_log = logging.getLogger(__name__)


def sweep_if_wanted(
    marks: SweepMarks | None,
    store: Store,
    settings: Settings,
    now: datetime,
    do: Callable[[], SweepReport],
    *,
    always: bool = False,
) -> SweepReport:
    """Does the sweep, unless the marks say that nothing can be due; without marks it is done each time.

    What is committed is swept for at one of the two ticks after it, and what is due by the tick after that moment; when
    the marks cannot be read or written, the database is asked.

    Guarantees: may run twice at once, for a sweep only ever writes what it found itself, and a mark that is set
    meanwhile is an object of its own: the next tick sees both.
    Raises: what the sweep raises; nothing is noted then, and the next tick does it again.
    """
    if marks is None:
        return do()
    digest = _digest(settings)
    if not always and not _is_wanted(marks, digest, now):
        return SweepReport({})
    report = do()
    try:
        marks.note(Swept(now, store.next_due(due_by(settings)), digest))
    except FilesUnavailable as failed:
        _log.warning("the next sweep will ask the database, for this one could not be noted: %s", failed)
    return report


def _is_wanted(marks: SweepMarks, digest: str, now: datetime) -> bool:
    try:
        last, touched_at = marks.swept(), marks.touched_at()
    except FilesUnavailable as failed:
        _log.warning("the database is asked, for the marks could not be read: %s", failed)
        return True
    if last is None or last.settings != digest or not last.at <= now < last.at + LONGEST_REST:
        return True
    if last.next_due is not None and last.next_due <= now:
        return True
    return touched_at is not None and touched_at + SETTLES_AFTER >= last.at


def _digest(settings: Settings) -> str:
    """Of all by which work is due: a deployment that changes it has what is due looked for anew."""
    return sha256(repr(replace(due_by(settings), moment=None)).encode()).hexdigest()[:16]
