"""The reception of a message that names an operation: the operation's rows say what to do.

Called by the jobs of the ingest, convert and transfer queues, each with its own use case.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from hindsight_aws.errors import HindsightError
from hindsight_aws.jobs.message import TRY_AGAIN_S, ids_of, not_done
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.wakeups import LONGEST_DELAY_S

_log = logging.getLogger(__name__)


class EndedAttempt(Protocol):
    """What a use case says of its attempt."""

    @property
    def state(self) -> str:
        """`completed`, `failed`, `deferred`, `busy` or `absent`."""

    @property
    def wait_s(self) -> float:
        """Seconds after which an operation that was deferred is to be gone on with."""


def work_on(
    body: str,
    run: Callable[[TenantId, OperationId], EndedAttempt],
    wake_again: Callable[[TenantId, Sequence[OperationId], int], None],
) -> Outcome:
    """Makes one attempt at the operation that the message names, and says what became of it.

    Guarantees: a message that comes twice, late or for nothing changes nothing, where that is so of `run`; an operation
    that is to be gone on with has its own wake-up.  Never raises what the product knows of.
    """
    try:
        tenant, operation = ids_of(body, "tenant_id", "operation_id")
    except ValueError:
        _log.exception("a message that names no operation was dropped")
        return Outcome.GIVEN_UP
    tenant_id, operation_id = TenantId(tenant), OperationId(operation)
    try:
        attempt = run(tenant_id, operation_id)
    except HindsightError as error:
        _log.warning("operation %s was not done: %s: %s", operation_id, type(error).__name__, error)
        return not_done(error, lambda: wake_again(tenant_id, [operation_id], TRY_AGAIN_S))
    _log.info("operation %s: %s", operation_id, attempt.state)
    if attempt.state == "deferred" and attempt.wait_s <= LONGEST_DELAY_S:
        wake_again(tenant_id, [operation_id], round(attempt.wait_s))
    return Outcome.GIVEN_UP if attempt.state == "failed" else Outcome.DONE
