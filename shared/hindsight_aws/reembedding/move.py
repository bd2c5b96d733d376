"""Puts the vectors that serve from beside in place, batch by batch.  Called by run.py; calls the store.

No reader and no writer can tell a row whose vector is in place from one whose is not.
"""

from __future__ import annotations

import time
from typing import Final

from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.ports.reembedding import ITEM_KINDS
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.adopt import MOVING
from hindsight_aws.reembedding.make import FIRST
from hindsight_aws.reembedding.ports import ReembeddingPorts

_MOST_AT_ONCE: Final = 100
"""Rows of one statement, each written to the vector index: it stays far below the time that statements have."""


def move(ports: ReembeddingPorts, tenant_id: TenantId, lease: Lease, give_up_at: float) -> bool:
    """Puts the bank's new vectors in place and ends the operation; False when the time was up before.

    Guarantees: each batch is a short commit that keeps nobody from anything but its rows; what is in place stays so.
    Raises: WorkSuperseded when the fence moved; DatabaseTooSlow, WorkRaced.
    """
    seconds = ports.settings.hindsight_reembed_lease_seconds
    at_most = min(ports.settings.hindsight_reembed_batch, _MOST_AT_ONCE)
    with ports.store.transaction(tenant_id) as tx:
        total, left = tx.vectors.replaced(lease), tx.vectors.made(lease)
    for kind in _IN_PLACE_LATER:
        after = FIRST
        while True:
            if time.monotonic() > give_up_at:
                return False
            with ports.store.transaction(tenant_id) as tx:
                tx.operations.renew(lease, seconds, Progress(MOVING, max(total - left, 0), total))
                done = tx.vectors.move(lease, kind, after, at_most)
            if not done:
                break
            after, left = done[-1], left - len(done)
            reached(points.AFTER_MOVE)
    with ports.store.transaction(tenant_id) as tx:
        tx.operations.renew(lease, seconds)
        tx.operations.complete(lease, {"model": lease.payload["model"], "vectors": total})
        tx.vectors.settle(lease)
        tx.vectors.drop(lease.bank_id, lease.operation_id)
        reached(points.BEFORE_END)
    reached(points.AFTER_END)
    return True


_IN_PLACE_LATER: Final = tuple(kind for kind in ITEM_KINDS if kind != "page")
