"""Has a document read again from its own text.  Called by the API; calls the store ports."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.access import document_sight
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.documents.sight import absent, bank_to_change
from hindsight_aws.errors import NotFound
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import RETAIN, NewOperation
from hindsight_aws.model.principal import Principal
from hindsight_aws.retain.intake.accepted import DocumentTask, to_json


@dataclass(frozen=True, slots=True)
class Reprocessing:
    """The operation that does it, and of how many items."""

    operation_id: OperationId
    items: int


def reprocess_document(ports: DocumentPorts, principal: Principal, bank: str, document: str) -> Reprocessing:
    """Writes down that the document is to be made again from its stored text, and wakes a worker.

    Every chunk is extracted anew, under the bank's present settings, with the dates and labels its items came with:
    what was undated stays undated.  The operation holds no text: it takes what is stored when its turn comes.

    Raises: NotFound, also for a document whose text is not kept; AccessDenied.
    """
    with ports.store.transaction(principal.tenant_id) as tx:
        found = bank_to_change(tx, principal, bank)
        stored = tx.documents.find(found.bank_id, document_sight(principal), document)
        if stored is None:
            raise absent()
        if stored.text is None:
            raise NotFound("Document has no stored text to process again")
        items = max(len(stored.parts), 1)
        operation = NewOperation(
            operation_id=OperationId(uuid4()),
            kind=RETAIN,
            subject=principal.subject,
            payload=to_json([DocumentTask(document, "replace", (), is_again=True)]),
            items_count=items,
            document_external_id=document,
            document_ids=(stored.document_id,),
        )
        tx.operations.add(found.bank_id, [operation])
    ports.wakeups.wake_operations(principal.tenant_id, [operation.operation_id])
    return Reprocessing(operation.operation_id, items)
