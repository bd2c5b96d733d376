"""Takes a fact out for good, valid or archived.  Called by the API; calls the store."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.settle import wake
from hindsight_aws.curation.sight import Known, known, may_correct, until_settled
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.written import mark_written


def delete_fact(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> None:
    """Deletes a fact with all that hangs on it; its document, retained again as it is, does not bring it back.

    Observations that rested on it end, their wording and quotes blanked in their history; their other sources wait
    again in those scopes.  What the chunk kept of its reading goes as well; the text of the document stays.

    Guarantees: one transaction; nothing rests on what is gone.

    Raises: NotFound for one that is not there, or not for this caller; InvalidRequest for an observation; AccessDenied;
    Conflict when others keep changing it.
    """
    may_correct(principal)
    seen, scopes = until_settled(lambda: _delete(ports, principal, bank, memory_id))
    wake(ports, principal.tenant_id, seen.bank, scopes)


def _delete(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> tuple[Known, Sequence[ScopeId]]:
    with ports.store.transaction(principal.tenant_id) as tx:
        seen = known(tx, ports, principal, bank, memory_id)
        if seen.fact.fact_type == "observation":
            raise InvalidRequest(
                "An observation cannot be deleted by itself: delete or invalidate the facts that it rests on, or clear "
                "its scope with DELETE /observations?scope=."
            )
        scopes = tx.curation.delete(seen.bank.bank_id, seen.fact)
        mark_written(tx, seen.bank.bank_id)
        return seen, scopes
