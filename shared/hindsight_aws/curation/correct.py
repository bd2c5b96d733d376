"""Corrects one memory by hand: edits it, takes it out of use, or puts it back.  Called by the API."""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.curation.edit import edit_fact
from hindsight_aws.curation.invalidate import invalidate_fact, revert_fact
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.requests import Correction, checked
from hindsight_aws.curation.sight import may_correct, until_settled
from hindsight_aws.model.principal import Principal


def correct(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID, correction: Correction) -> None:
    """Does what the correction says, in the order: back to valid, edit, out of use.

    Guarantees: each step is one transaction, and repeated changes nothing more; no observation is left that rests on
    what the fact no longer says.

    Raises: NotFound; InvalidRequest and its kinds, also for an observation and for an edit of an archived fact;
    AccessDenied; Conflict when others keep changing it, or the bank's vectors are another model's; ModelError when it
    cannot be embedded; DatabaseUnavailable.
    """
    may_correct(principal)
    asked = checked(correction)
    edit = asked.edit
    if asked.state == "valid":
        until_settled(lambda: revert_fact(ports, principal, bank, memory_id))
    if edit is not None:
        until_settled(lambda: edit_fact(ports, principal, bank, memory_id, edit))
    if asked.state == "invalidated":
        until_settled(lambda: invalidate_fact(ports, principal, bank, memory_id, asked.reason))
