"""Removes what a re-embedding left beside the vectors that serve when it was cancelled or failed, part by part.

Called by run.py; calls the store.
"""

from __future__ import annotations

import time

from hindsight_aws.errors import WorkDeferred
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Operation
from hindsight_aws.operations.attempt import Attempt
from hindsight_aws.ports.store import Store
from hindsight_aws.reembedding import points


def drop_left(store: Store, tenant_id: TenantId, ended: Operation, give_up_at: float) -> Attempt:
    """Removes all that the ended operation left, or defers the rest when the time is up.

    Guarantees: each part is a short commit; may run twice at once; once the operation is retried nothing more is
    removed.  Raises: DatabaseTooSlow, DatabaseUnavailable, WorkRaced; the sweep then has it gone on with.
    """
    while True:
        with store.transaction(tenant_id) as tx:
            has_left = tx.vectors.drop(ended.bank_id, ended.operation_id)
        if not has_left:
            return Attempt("absent")
        reached(points.AFTER_DROP)
        if time.monotonic() > give_up_at:
            return Attempt("deferred", WorkDeferred("time is up; another message goes on"))
