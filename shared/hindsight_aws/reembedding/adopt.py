"""Has the new vectors serve, all from one commit on, whatever their number.  Called by run.py; calls the store.

Whoever reads sees the former until the commit and the new ones after it, which serve from beside until move.py has put
them in place; whoever writes vectors meanwhile is told to come later.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from hindsight_aws.errors import VectorsReplaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.operation import Progress
from hindsight_aws.ports.reembedding import ITEM_KINDS
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.make import FIRST, Making

MOVING: Final = "moving"
_AT_ONCE: Final = 100
"""Pages of one statement: it stays far below the time that statements have."""


def adopt(making: Making) -> None:
    """Makes the new vectors those of the bank; pages, which are few, are put in place in the same commit.

    Guarantees: all or nothing; after the commit every vector that serves is the new model's.
    Raises: VectorsReplaced when something came in between and more has to be made first; WorkSuperseded when the fence
    moved; DatabaseTooSlow, WorkRaced.
    """
    lease, model = making.lease, making.embedder.model
    with making.ports.store.transaction(making.tenant_id) as tx:
        tx.vectors.lock_alone(lease.bank_id)
        total = tx.vectors.made(lease)
        tx.operations.renew(lease, making.ports.settings.hindsight_reembed_lease_seconds, Progress(MOVING, 0, total))
        _require_all_made(tx, making)
        reached(points.ALL_MADE)
        after = FIRST
        while done := tx.vectors.put_pages(lease, model, after, _AT_ONCE):
            after = done[-1]
        if tx.vectors.pages_left(lease.bank_id, model):
            raise VectorsReplaced("a page was written in between")
        tx.reflect.forget_answers(lease.bank_id)
        if not tx.vectors.adopt(lease, model):
            raise WorkSuperseded("the bank is being erased")
        reached(points.BEFORE_ADOPTION)
    reached(points.AFTER_ADOPTION)


def _require_all_made(tx: Transaction, making: Making) -> None:
    """Lets pass when nothing was written since the last vectors were made.  Raises: VectorsReplaced."""
    for kind, span in product(ITEM_KINDS, making.spans):
        if tx.vectors.unmade(making.lease, kind, making.embedder.model, span, 1):
            raise VectorsReplaced("what was written since must be embedded first")
