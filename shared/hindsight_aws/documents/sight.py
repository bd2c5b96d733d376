"""Which documents a caller may change: those in sight.  Called by the use cases beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from hindsight_aws.access import require, sees_bank, sees_documents
from hindsight_aws.errors import NotFound
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Transaction


def absent() -> NotFound:
    """The error for a document that is not there, or not there for this caller."""
    return NotFound("Document not found")


def bank_to_change(tx: Transaction, principal: Principal, bank: str) -> Bank:
    """The bank, for a caller who may change its documents.

    Raises: AccessDenied without the right to write; `absent` where the bank or its documents are out of sight.
    """
    require(principal, Permission.WRITE)
    found = tx.banks.find(bank) if sees_bank(principal, bank) and sees_documents(principal) else None
    if found is None:
        raise absent()
    return found


def tags_of(part: Mapping[str, object]) -> Sequence[str]:
    """The tags of an item as its document's row keeps them."""
    return [*cast("Collection[str]", part.get("tags") or ())]
