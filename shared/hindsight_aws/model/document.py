"""Documents: how their ids come about."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from hindsight_aws.model.ids import BankId, DocumentId, OperationId, derived_uuid


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The uploaded file that a document's text was read from; `kept` is its id where its bytes are kept."""

    name: str
    content_type: str
    kept: UUID | None = None


def document_id_of(bank_id: BankId, external_id: str) -> DocumentId:
    """The id of the document that callers of this bank know as `external_id`: known before its row exists."""
    return DocumentId(derived_uuid("document", bank_id, external_id))


def generated_external_id(operation_id: OperationId, place: int) -> str:
    """What a document nobody named is called: the same on every attempt of the operation that makes it."""
    return str(derived_uuid("generated document", operation_id, place))
