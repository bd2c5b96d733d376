"""Checks, before anything is paid for, that a leased operation may still be attempted.

Called by the job; pure but for the settings.
"""

from __future__ import annotations

from hindsight_aws.errors import Conflict, WorkCrashed
from hindsight_aws.ports.model_gateway import serving
from hindsight_aws.retain.begin import LeasedOperation
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.settle import attempts_allowed


def check_may_run(ports: RetainPorts, leased: LeasedOperation) -> None:
    """Lets an attempt begin.

    Raises: WorkCrashed when as many as are allowed did not come to an end; Conflict when a later operation has added to
    a document that this one would replace, or when the model of the bank's vectors is not served any more.
    """
    allowed = attempts_allowed(ports, leased.lease)
    if leased.lease.attempts > allowed:
        raise WorkCrashed(f"gave up after {allowed} attempts that did not come to an end")
    serving(ports.embedder, leased.bank.embedding_model)
    if leased.overtaken:
        raise Conflict(f"overtaken: a later retain has added to document {leased.overtaken[0]!r} while this one waited")
