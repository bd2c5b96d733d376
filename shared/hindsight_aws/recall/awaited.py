"""Looks what became of a write that the caller knows by its token, and waits for it.  Called by recall/recall.py.

Every look is a transaction of its own: none is open while this waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from hindsight_aws.access import bank_not_found as not_found
from hindsight_aws.access import operations_subject
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.watermark import WriteState
from hindsight_aws.ports.store import Store
from hindsight_aws.recall.deadline import Deadline
from hindsight_aws.recall.request import After

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
_GROWTH: Final = 1.6


def awaited(
    store: Store,
    principal: Principal,
    bank: str,
    after: After,
    deadline: Deadline | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> WriteState:
    """What became of the write, as late as it is waited for: of a deadline's time, half is left for looking.

    Raises: NotFound for a bank that is not there; InvalidField for a token that names no write of the bank, or none
    whose operations this caller may see, all alike.
    """
    wait = after.wait_ms if deadline is None else min(after.wait_ms, deadline.to_look_ms)
    until = clock() + wait / 1000
    pause = _FIRST_PAUSE_S
    while True:
        found = _looked(store, principal, bank, after)
        left = until - clock()
        if left <= 0 or _is_settled(found, after):
            return found
        sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)


def _looked(store: Store, principal: Principal, bank: str, after: After) -> WriteState:
    with store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank)
        if found is None:
            raise not_found(bank)
        state = tx.operations.watermark_state(found.bank_id, after.watermark, operations_subject(principal))
    if state is None:
        raise InvalidField("after", "names no write that this bank knows of")
    return state


def _is_settled(found: WriteState, after: After) -> bool:
    """Whether waiting is over, one way or the other."""
    if found.state == "pending":
        return False
    if after.wait_for == "visible" or found.has_failed:
        return True
    return found.state == "consolidated" or found.has_failed_consolidation
