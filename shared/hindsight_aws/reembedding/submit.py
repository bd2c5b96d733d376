"""Asks for a bank to be embedded anew: checks what can be seen at once, writes it down, and wakes a worker.

Called by the API; calls the ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.errors import Conflict, InvalidField
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.operation import REEMBED, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.reembedding.ports import ReembeddingPorts


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What was asked for: the operation, the model, and whether it was going on already."""

    operation_id: OperationId
    model: str
    deduplicated: bool


def submit(ports: ReembeddingPorts, principal: Principal, bank: str, model: str | None) -> Reembedding:
    """Writes down that the bank is to be embedded anew by the model; None: by that of new banks.

    Guarantees: while one goes on no second is begun; asked for once more, it is answered with.
    Raises: InvalidField for a model that is not served; Conflict while the bank is embedded by yet another, and for a
    bank that is too large; AccessDenied for a key that does not see all of the bank; NotFound, DatabaseUnavailable.
    """
    require(principal, Permission.ADMIN)
    require_bank(principal, bank)
    require_whole_bank(principal)
    wanted = model or ports.embedder.model
    if ports.embedder.of(wanted) is None:
        raise InvalidField("model", f"must be one that this deployment serves; '{wanted[:200]}' is not")
    most = ports.settings.hindsight_reembed_max_vectors
    operation_id = OperationId(uuid4())
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.lock(bank)
        if found is None:
            raise bank_not_found(bank)
        going_on = tx.vectors.going_on(found.bank_id)
        if going_on is not None and going_on.model != wanted:
            raise Conflict(f"Operation {going_on.operation_id} is embedding the bank by {going_on.model}")
        if going_on is None:
            if tx.vectors.left_over(found.bank_id, wanted) > most:
                raise too_large(most)
            told = {"model": wanted, "former_model": found.embedding_model}
            new = NewOperation(operation_id, REEMBED, principal.subject, {"model": wanted}, result=told)
            tx.operations.add(found.bank_id, [new])
    if going_on is not None:
        return Reembedding(going_on.operation_id, wanted, deduplicated=True)
    ports.wakeups.wake_transfers(principal.tenant_id, [operation_id])
    return Reembedding(operation_id, wanted, deduplicated=False)


def too_large(most: int) -> Conflict:
    """The bank has more vectors than are looked through at once."""
    return Conflict(
        f"The bank has more than {most} vectors to replace (HINDSIGHT_REEMBED_MAX_VECTORS): export it and restore it "
        "under another name, which embeds it by the model of new banks"
    )
