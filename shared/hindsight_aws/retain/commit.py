"""Writes the outcome of an attempt: facts and operation in one transaction, or the operation's failure or deferral.

Called by the job; calls the store ports.  Lock order: own operation, documents, facts, entities, scopes,
parent operation, bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.errors import HindsightError
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId, ScopeId, TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.documents import DocumentVersion, NewChunk
from hindsight_aws.ports.entities import Mention
from hindsight_aws.ports.memories import LinkRule, NewFact
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.extraction.found import Extraction
from hindsight_aws.retain.extraction.found import to_json as extraction_to_json
from hindsight_aws.retain.intake.accepted import DocumentTask, to_json
from hindsight_aws.retain.plan import ChunkPlan, DocumentPlan
from hindsight_aws.retain.ports import RetainPorts

MOST_LINKS = 20
_MOST_SAMPLES = 5


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that an attempt brought in.  `unfinished` is the work that failed for good, `error` why, naming the items."""

    documents: Sequence[DocumentPlan]
    facts: Sequence[NewFact]
    found: dict[str, Extraction]
    problems: Sequence[str] = ()
    unfinished: Sequence[DocumentTask] = ()
    error: HindsightError | None = None


@dataclass(frozen=True, slots=True)
class ToWake:
    """Whom to wake after the commit."""

    scopes: Sequence[ScopeId]
    operations: Sequence[OperationId]


def commit(
    ports: RetainPorts, tenant_id: TenantId, lease: Lease, prepared: Prepared, account: Account, rule: LinkRule
) -> ToWake:
    """Writes everything in one transaction, or nothing; the lease is held locked meanwhile, however long it takes.

    Raises: WorkSuperseded when the fence moved, the operation ended, or the bank's vectors became another model's.
    """
    changed = [document for document in prepared.documents if not document.is_unchanged]
    scopes = list(dict.fromkeys(scope for fact in prepared.facts for scope in fact.scopes))
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.operations.renew(lease, ports.settings.hindsight_retain_lease_seconds)
        with tx.together():
            reopened = tx.documents.write(lease.bank_id, [_version(document, prepared, lease) for document in changed])
            if prepared.facts:
                _write_facts(tx, ports, lease, prepared.facts, rule)
            tx.usage.record(lines)
        to_wake = _end(tx, lease, prepared, account, scopes, reopened)
        if changed:
            tx.memories.touch_bank(lease.bank_id, ports.embedder.model if prepared.facts else None)
        if any(document.replaces for document in changed):
            tx.reflect.forget_answers(lease.bank_id)
        reached(points.BEFORE_COMMIT)
    reached(points.AFTER_COMMIT)
    return to_wake


def give_up(ports: RetainPorts, tenant_id: TenantId, lease: Lease, error: HindsightError, account: Account) -> ToWake:
    """Ends the operation as failed, nothing stored; what the attempt's calls cost is in the ledger all the same."""
    with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
        tx.usage.record(lines)
        tx.operations.fail(lease, type(error).__name__, str(error), {}, lease.payload)
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


def _write_facts(tx: Transaction, ports: RetainPorts, lease: Lease, facts: Sequence[NewFact], rule: LinkRule) -> None:
    tx.memories.add(lease.bank_id, ports.embedder.model, facts)
    tx.memories.link(lease.bank_id, facts, rule)
    mentions = [
        Mention(fact.id, name, fact.occurred_start or fact.mentioned_at) for fact in facts for name in fact.entities
    ]
    tx.entities.mention(lease.bank_id, mentions)
    tx.scopes.open_work(lease.bank_id, {fact.id: fact.scopes for fact in facts})


def _end(
    tx: Transaction,
    lease: Lease,
    prepared: Prepared,
    account: Account,
    scopes: Sequence[Scope],
    reopened: Sequence[ScopeId],
) -> ToWake:
    """Ends the operation under its fence, and says whom to wake."""
    if prepared.error is None:
        tx.operations.complete(lease, _result(prepared, account))
    else:
        left = to_json(prepared.unfinished)
        tx.operations.fail(lease, type(prepared.error).__name__, str(prepared.error), _result(prepared, account), left)
    opened = tx.scopes.ids(lease.bank_id, scopes) if scopes else []
    return ToWake(list(dict.fromkeys([*opened, *reopened])), tx.operations.waiting(lease))


def _version(document: DocumentPlan, prepared: Prepared, lease: Lease) -> DocumentVersion:
    return DocumentVersion(
        document_id=document.document_id,
        external_id=document.external_id,
        text=document.body if document.recipe.config.store_document_text else None,
        text_length=len(document.body),
        content_hash=document.content_hash,
        retain_params=document.params,
        tags=document.tags,
        chunks=[_chunk(document, chunk, prepared) for chunk in document.chunks],
        replaces=document.replaces,
        appends=document.appends,
        operation_id=lease.operation_id,
        revision_id=uuid4(),
        facts_added=sum(1 for fact in prepared.facts if fact.document_id == document.document_id),
    )


def _chunk(document: DocumentPlan, chunk: ChunkPlan, prepared: Prepared) -> NewChunk:
    extraction = None if chunk.key is None else extraction_to_json(prepared.found[chunk.key])
    text = chunk.text if document.recipe.config.store_document_text else ""
    return NewChunk(chunk.index, text, chunk.content_hash, extraction, chunk.key)


def _result(prepared: Prepared, account: Account) -> JsonObject:
    totals = account.totals
    return {
        "document_ids": [document.external_id for document in prepared.documents],
        "unit_ids_count": len(prepared.facts),
        "extraction_errors_count": len(prepared.problems),
        "extraction_errors": [problem[:500] for problem in prepared.problems[:_MOST_SAMPLES]],
        "usage": {
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "total_tokens": totals.total_tokens,
            "cached_tokens": totals.cached_tokens,
        },
    }
