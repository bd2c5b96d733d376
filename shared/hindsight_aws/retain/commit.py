"""Writes the outcome of an attempt: facts and operation in one transaction, or the operation's failure or deferral.

Called by the job, and for facts out of an archive by transfer; calls the store ports.  Locks in the global order
(docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hindsight_aws.errors import HindsightError
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.model.scope import Scope
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.entities import Mention
from hindsight_aws.ports.links import LinkRule
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.intake.accepted import to_json
from hindsight_aws.retain.plan import DocumentPlan
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.prepared import Prepared
from hindsight_aws.retain.relabel import relabel, relabelling
from hindsight_aws.retain.report import events_of, result_of
from hindsight_aws.retain.versions import versions

MOST_LINKED_AT_ONCE: Final = 1_000
"""Facts of one commit that are linked within it; comparing more with all there are would outlast its statements."""


@dataclass(frozen=True, slots=True)
class ToWake:
    """Whom to wake after the commit.  `links`: facts went, or came in great number, and links are to be made.

    `webhooks`: somebody listens to what was told.
    """

    scopes: Sequence[ScopeId]
    operations: Sequence[OperationId]
    links: bool = False
    webhooks: bool = False


def commit(
    ports: RetainPorts, tenant_id: TenantId, lease: Lease, prepared: Prepared, account: Account, rule: LinkRule
) -> ToWake:
    """Writes everything in one transaction, or nothing; the lease is locked meanwhile, however long it takes.

    Raises: WorkSuperseded when the fence moved or the operation ended; VectorsReplaced when the bank's vectors became
    another model's, or are about to.
    """
    changed = prepared.changed
    replaced = [document for document in changed if document.outline.replaces]
    coming = [entity for fact in prepared.facts for entity in fact.entities] if replaced else []
    scopes = list(dict.fromkeys(scope for fact in prepared.facts for scope in fact.scopes))
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        if prepared.facts:
            tx.vectors.lock_shared(lease.bank_id, prepared.embedding_model)
        tx.operations.renew(lease, ports.settings.hindsight_retain_lease_seconds)
        with tx.together():
            reopened = tx.documents.write(lease.bank_id, versions(prepared, lease), coming)
            _set_files(tx, lease, prepared.documents)
            for document in replaced:
                reopened += _relabel(tx, lease, document, prepared.volatile)
            if prepared.facts:
                write_facts(tx, lease.bank_id, prepared.embedding_model, prepared.facts, lambda: rule)
            tx.usage.record(lines)
        to_wake = _end(tx, lease, prepared, account, scopes, reopened)
        if changed:
            model = prepared.embedding_model if prepared.facts else None
            mark_written(tx, lease.bank_id, model, forgets=bool(replaced))
        account.allowance.settle(tx)
        if replaced or len(prepared.facts) > MOST_LINKED_AT_ONCE:
            to_wake = replace(to_wake, links=True)
        reached(points.BEFORE_COMMIT)
    reached(points.AFTER_COMMIT)
    return to_wake


def _set_files(tx: Transaction, lease: Lease, documents: Sequence[DocumentPlan]) -> None:
    """Names the file that each document came from; a text in place of a file's has none.

    A kept file becomes its document's though the text is what was there: another file, or none, may have been kept.
    """
    files = {
        each.outline.document_id: each.task.file
        for each in documents
        if (each.task.file and (each.task.file.kept or not each.is_unchanged))
        or (each.outline.replaces and not each.task.is_again)
    }
    if files:
        tx.documents.set_files(lease.bank_id, files)


def give_up(ports: RetainPorts, tenant_id: TenantId, lease: Lease, error: HindsightError, account: Account) -> ToWake:
    """Ends the operation as failed, nothing stored; what the attempt's calls cost is in the ledger all the same."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
        tx.operations.fail(lease, type(error).__name__, str(error), {}, lease.payload)
        account.allowance.settle(tx)
        return ToWake((), tx.operations.waiting(lease))


def defer(
    ports: RetainPorts,
    tenant_id: TenantId,
    lease: Lease,
    error: HindsightError,
    account: Account,
    wait_s: float,
    *,
    counts: bool,
) -> None:
    """Gives the operation back, to be taken up again after `wait_s` seconds."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
        tx.operations.defer(lease, wait_s, counts=counts, reason=str(error))
        account.allowance.settle(tx)


def write_facts(
    tx: Transaction, bank_id: BankId, embedding_model: str, facts: Sequence[NewFact], rule: Callable[[], LinkRule]
) -> None:
    """Writes new facts with their entities, links and work; the `rule` of the links is asked for where any are made.

    More than MOST_LINKED_AT_ONCE are linked later, by whoever tends the bank's links.
    """
    tx.memories.add(bank_id, embedding_model, facts)
    mentions = [
        Mention(fact.id, entity, fact.occurred_start or fact.mentioned_at) for fact in facts for entity in fact.entities
    ]
    tx.entities.mention(bank_id, mentions)
    if len(facts) > MOST_LINKED_AT_ONCE:
        tx.links.add_later(bank_id, facts)
    else:
        tx.links.add(bank_id, facts, rule())
    tx.scopes.open_work(bank_id, {fact.id: fact.scopes for fact in facts})


def _relabel(tx: Transaction, lease: Lease, document: DocumentPlan, volatile: Sequence[str]) -> list[ScopeId]:
    """Labels the facts of the chunks that stay as their items are labelled now; the scopes that have work then."""
    changes = {
        chunk.index: change
        for chunk in document.chunks
        if chunk.former is not None and (change := relabelling(chunk.part, chunk.former_part)) is not None
    }
    return relabel(tx, lease.bank_id, document.outline.document_id, changes, volatile)


def _end(
    tx: Transaction,
    lease: Lease,
    prepared: Prepared,
    account: Account,
    scopes: Sequence[Scope],
    reopened: Sequence[ScopeId],
) -> ToWake:
    """Ends the operation under its fence, and says whom to wake."""
    new = [document.outline.document_id for document in prepared.changed if document.outline.stored is None]
    twins = tx.documents.twins(lease.bank_id, new) if new else {}
    result = result_of(prepared, account, twins)
    if prepared.error is None:
        tx.operations.complete(lease, result)
    else:
        left = to_json(prepared.unfinished)
        tx.operations.fail(lease, type(prepared.error).__name__, str(prepared.error), result, left)
    is_heard = tx.webhooks.tell(lease.bank_id, events_of(prepared, lease))
    opened = tx.scopes.ids(lease.bank_id, scopes) if scopes else []
    return ToWake(list(dict.fromkeys([*opened, *reopened])), tx.operations.waiting(lease), webhooks=is_heard)
