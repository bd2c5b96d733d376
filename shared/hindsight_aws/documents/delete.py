"""Deletes a document with everything that came of it.  Called by the API; calls the store ports."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.access import document_sight
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.documents.sight import absent, bank_to_change
from hindsight_aws.documents.waking import wake_scopes
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.written import mark_written


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went: `facts` counts the document's own, observations that rested on them not included."""

    document: str
    facts: int


def delete_document(ports: DocumentPorts, principal: Principal, bank: str, document: str) -> Deleted:
    """Takes the document out.

    Its facts go, invalidated ones too, with every observation of whatever scope that rested on one; other sources of
    those observations are consolidated again.  Revisions that quoted them are blanked, cached answers forgotten.  An
    operation that waits to write the document, or failed to, loses its text: it does not come back.

    Guarantees: all of it or nothing, in one transaction; a second call finds nothing.  Raises: NotFound, AccessDenied.
    """
    with ports.store.transaction(principal.tenant_id) as tx:
        found = bank_to_change(tx, principal, bank)
        removed = tx.documents.remove(found.bank_id, document_sight(principal), document)
        if removed is None:
            raise absent()
        mark_written(tx, found.bank_id)
    wake_scopes(ports, principal, found, removed.reopened)
    if removed.operations:
        ports.wakeups.wake_operations(principal.tenant_id, removed.operations)
    ports.wakeups.wake_links(principal.tenant_id, found.bank_id)
    return Deleted(document, removed.facts)
