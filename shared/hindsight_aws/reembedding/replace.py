"""Puts the new vectors in place of those that serve, all in one transaction.  Called by run.py; calls the store.

Whoever reads sees the former until the commit and the new ones after it; whoever writes vectors is told to come later.
"""

from __future__ import annotations

import time
from typing import Final

from hindsight_aws.errors import DatabaseTooSlow, VectorsReplaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.ports.reembedding import ITEM_KINDS
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.make import FIRST, Making

_AT_ONCE: Final = 100
"""Rows of one statement: each stays far below the time that statements have."""


def replace(making: Making) -> int:
    """Replaces the bank's vectors, ends the operation, and removes what was made beside; how many were replaced.

    Guarantees: all or nothing; after the commit no vector of the bank is of another model.
    Raises: VectorsReplaced when something came in between and more has to be made first; WorkSuperseded when the fence
    moved; DatabaseTooSlow when the time was up before the end; WorkRaced.
    """
    lease, model, count = making.lease, making.embedder.model, 0
    with making.ports.store.transaction(making.tenant_id) as tx:
        tx.vectors.hold_alone(lease.bank_id)
        tx.operations.renew(lease, making.ports.settings.hindsight_reembed_lease_seconds)
        _require_all_made(tx, making)
        for kind in ITEM_KINDS:
            after = FIRST
            while done := tx.vectors.put(lease, kind, model, after, _AT_ONCE):
                after, count = done[-1], count + len(done)
                if time.monotonic() > making.give_up_at:
                    raise DatabaseTooSlow("replacing the vectors took longer than a worker has; nothing was replaced")
                reached(points.AMID_REPLACING)
        if tx.vectors.left_over(lease.bank_id, model):
            raise VectorsReplaced("vectors of the former model came in between")
        tx.vectors.drop(lease.bank_id, lease.operation_id)
        tx.operations.complete(lease, {"model": model, "vectors": count})
        tx.reflect.forget_answers(lease.bank_id)
        if not tx.vectors.adopt(lease, model):
            raise WorkSuperseded("the bank is being erased")
        reached(points.BEFORE_END)
    reached(points.AFTER_END)
    return count


def _require_all_made(tx: Transaction, making: Making) -> None:
    """Lets pass when nothing was written since the last vectors were made.  Raises: VectorsReplaced."""
    for kind in ITEM_KINDS:
        if tx.vectors.unmade(making.lease, kind, making.embedder.model, FIRST, 1):
            raise VectorsReplaced("what was written since must be embedded first")
