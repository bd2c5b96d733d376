"""Takes a fact out of use, and puts it back.  Called by correct; calls screening, entities and the store."""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.curation.indexing import index, paid
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.settle import wake
from hindsight_aws.curation.sight import known
from hindsight_aws.entities import FactNames, resolve
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.principal import Principal
from hindsight_aws.operations.written import mark_written
from hindsight_aws.screening import policy_of, redacted


def invalidate_fact(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID, reason: str | None) -> None:
    """One attempt: out of recall and consolidation, into the archive; one that is there already gets the new reason.

    Raises: WorkSuperseded when another write came in between.
    """
    scopes: list[ScopeId] = []
    with ports.store.transaction(principal.tenant_id) as tx:
        seen = known(tx, ports, principal, bank, memory_id)
        if seen.fact.fact_type == "observation":
            raise InvalidRequest("An observation cannot be invalidated: invalidate the facts that it rests on.")
        why = None
        if reason is not None:
            why = redacted(policy_of(ports.settings, seen.bank, None), reason, "reason")
        if seen.fact.state == "valid":
            tx.vectors.lock_shared(seen.bank.bank_id, None)
            scopes = tx.curation.archive(seen.bank.bank_id, seen.fact, why)
            mark_written(tx, seen.bank.bank_id)
        elif why is not None:
            tx.curation.give_reason(seen.bank.bank_id, seen.fact, why)
    if seen.fact.state == "valid":
        wake(ports, principal.tenant_id, seen.bank, scopes)


def revert_fact(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> None:
    """One attempt: back from the archive as it was, embedded anew, pending in its scopes; a valid one stays as it is.

    Raises: WorkSuperseded when another write came in between.
    """
    with ports.store.transaction(principal.tenant_id) as tx:
        seen = known(tx, ports, principal, bank, memory_id)
        fact, bank_id = seen.fact, seen.bank.bank_id
        if fact.state == "valid":
            return
        at = fact.occurred_start or fact.mentioned_at
        entities = resolve(tx.entities, bank_id, [FactNames(fact.names, at)], 1.0).of(fact.names)
    names = [entity.name for entity in entities]
    indexing, costs = index(ports, principal, seen.bank, fact, names, names)
    with paid(ports, principal, costs), ports.store.transaction(principal.tenant_id) as tx:
        tx.vectors.lock_shared(bank_id, indexing.embedding_model)
        scopes = tx.curation.restore(bank_id, fact, indexing, entities, seen.scopes)
        tx.usage.record(costs)
        mark_written(tx, seen.bank.bank_id, indexing.embedding_model)
    wake(ports, principal.tenant_id, seen.bank, scopes)
