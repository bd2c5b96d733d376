"""Which pending facts are asked about together, and in how small a company those are that went wrong before.

Pure.  Called by the drain.  An answer that overlooked or broke on a fact brings it into smaller company, down to
alone, so no request is
ever repeated as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.ports.consolidation import PendingFact

ALONE = 2
"""The number of looks from which a fact is asked about alone."""


def choose(pending: Sequence[PendingFact], size: int) -> list[PendingFact]:
    """The oldest fact and those after it that may be asked about in its company; at most `size`, oldest first."""
    if not pending:
        return []
    limit = company(pending[0], size)
    return [row for row in pending if company(row, size) >= limit][:limit]


def company(row: PendingFact, size: int) -> int:
    """The most facts this one may be asked about with, itself included."""
    if row.looks >= ALONE:
        return 1
    return max(1, size >> max(row.looks, row.attempts))


def looks_after(batch: int, overlooked: int, size: int) -> int:
    """The looks to note on facts that an answer about `batch` facts overlooked, `overlooked` of them.

    Together once more if that makes a smaller company, then alone.
    """
    return 1 if min(overlooked, max(1, size >> 1)) < batch and batch > 1 and overlooked > 1 else ALONE


def attempts_after(batch: int, attempts: int, size: int) -> int:
    """The attempts to note on the facts of a batch whose answer was malformed: enough to halve it."""
    after = attempts + 1
    while batch > 1 and max(1, size >> after) >= batch:
        after += 1
    return after
