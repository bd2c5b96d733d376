"""Does a retain operation, once: lease, extraction outside any transaction, then everything in one commit.

Called by `retain` and by the ingest job; calls begin, plan, extraction, assemble and commit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from hindsight_aws.entities import resolve
from hindsight_aws.errors import (
    InvalidRequest,
    ModelError,
    ModelUnavailable,
    WorkCrashed,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.links.rule import link_rule
from hindsight_aws.model.ids import DocumentId, OperationId, TenantId
from hindsight_aws.model.operation import FILE_CONVERT_RETAIN
from hindsight_aws.ports.documents import StoredChunk
from hindsight_aws.ports.links import LinkRule
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.assemble import Draft, drafts, facts, named, names_of
from hindsight_aws.retain.begin import GaveWay, LeasedOperation, begin
from hindsight_aws.retain.checkpoint import Checkpoint
from hindsight_aws.retain.commit import commit
from hindsight_aws.retain.extraction.extract_all import Extractions, Wanted, extract_all
from hindsight_aws.retain.extraction.found import Extraction, from_json
from hindsight_aws.retain.extraction.recipes import config_of, recipe_of
from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.plan import DocumentPlan, Outline, outline, plan_document, planned_id
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.precheck import check_may_run
from hindsight_aws.retain.prepared import Prepared
from hindsight_aws.retain.settle import fail, leave_to_others, put_off, wait_of, wake
from hindsight_aws.retain.triage import sort_out
from hindsight_aws.retain.vectors import KeepingEmbedder
from hindsight_aws.telemetry import about
from hindsight_aws.usage.allowance import Allowance, waits


def run_retain(ports: RetainPorts, tenant_id: TenantId, operation_id: OperationId, seconds: float) -> Attempt:
    """One attempt at the operation, taking about `seconds` at most.

    Guarantees: at any moment one attempt at most can commit; a repeated call stores nothing twice and repeats no model
    call whose result was kept.  Raises: DatabaseUnavailable; the rows then say what is left to do.
    """
    with ports.store.transaction(tenant_id) as tx:
        standing = tx.limits.standing(ports.clock.now())
        limit = waits(standing)
        begun = None if limit else begin(tx, operation_id, ports.settings.hindsight_retain_lease_seconds, standing)
        operation = None if begun is not None else tx.operations.find(operation_id)
    if isinstance(begun, GaveWay):
        ports.wakeups.wake_operations(tenant_id, begun.to_wake)
        return Attempt("absent" if begun.is_over else "busy")
    if begun is not None:
        return carry_out(ports, tenant_id, begun, seconds)
    is_open = operation is not None and operation.status in ("pending", "processing")
    if limit is not None and is_open:
        return Attempt("deferred", error=limit, wait_s=wait_of(ports, limit))
    if operation is not None and is_open and operation.kind == FILE_CONVERT_RETAIN:
        ports.wakeups.wake_conversions(tenant_id, [operation_id])
    return Attempt("busy" if is_open else "absent")


def carry_out(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, seconds: float) -> Attempt:
    """The rest of an attempt, from a lease on.

    Always ends with the row telling what became of it, unless the database is gone.
    """
    about(bank=leased.lease.bank_id, operation=leased.lease.operation_id)
    reached(points.AFTER_LEASE)
    account = Account(leased.lease, Allowance(tenant_id, ports.clock))
    try:
        check_may_run(ports, leased)
        prepared = _prepare(ports, tenant_id, leased, account, time.monotonic() + seconds)
        to_wake = commit(
            ports, tenant_id, leased.lease, prepared, account, _link_rule(ports, leased, len(prepared.facts))
        )
    except (WorkDeferred, ModelUnavailable) as passing:
        return put_off(ports, tenant_id, leased, account, passing)
    except WorkSuperseded as superseded:
        return leave_to_others(ports, tenant_id, account, superseded)
    except (ModelError, InvalidRequest, WorkCrashed) as final:
        return fail(ports, tenant_id, leased.lease, account, final)
    wake(ports, tenant_id, leased, to_wake)
    return Attempt("completed" if prepared.error is None else "failed", account.totals, prepared.error)


def _prepare(
    ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, account: Account, give_up_at: float
) -> Prepared:
    """Everything the commit needs.  Raises when nothing at all can be stored, or not yet."""
    plans = _plans(ports, tenant_id, leased)
    extractions = _extractions(ports, tenant_id, leased, plans, account, give_up_at)
    if extractions.stopped_by is not None:
        raise extractions.stopped_by
    reached(points.AFTER_EXTRACT)
    verdict = sort_out(plans, extractions.failed)
    if verdict.error is not None:
        if not verdict.tasks:
            raise verdict.error
        done = {id(plan.task): plan for plan in plans}
        plans = [
            done.get(id(task)) or plan_document(_outline(ports, tenant_id, leased, task)) for task in verdict.tasks
        ]
    made = _named(ports, tenant_id, leased, drafts(leased.lease.operation_id, plans, extractions.found))
    volatile = config_of(ports.settings, leased.bank, None).volatile_tags
    embedder = KeepingEmbedder(ports, tenant_id, leased, account, give_up_at)
    ready = facts(made, embedder, volatile, account.take)
    reached(points.AFTER_EMBED)
    keys = {chunk.key for plan in plans for chunk in plan.new_chunks}
    problems = [problem for key in extractions.found if key in keys for problem in extractions.found[key].problems]
    return Prepared(
        documents=plans,
        facts=ready,
        found=extractions.found,
        embedding_model=embedder.model,
        volatile=tuple(volatile),
        left_out=leased.left_out,
        superseded=leased.superseded,
        problems=problems,
        unfinished=verdict.unfinished,
        error=verdict.error,
    )


def _plans(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation) -> list[DocumentPlan]:
    """What is to be done for each document, with the chunks of its stored version that may stay."""
    outlines = [_outline(ports, tenant_id, leased, task) for task in leased.tasks]
    changing = [outline.document_id for outline in outlines if outline.needs_former_chunks]
    former: Mapping[DocumentId, Sequence[StoredChunk]] = {}
    if changing:
        with ports.store.transaction(tenant_id) as tx:
            former = tx.documents.chunks(leased.bank.bank_id, changing)
    return [plan_document(outline, former.get(outline.document_id, ())) for outline in outlines]


def _extractions(
    ports: RetainPorts,
    tenant_id: TenantId,
    leased: LeasedOperation,
    plans: list[DocumentPlan],
    account: Account,
    give_up_at: float,
) -> Extractions:
    """The extractions of all chunks of changed documents.

    Those kept before come first, then those of the stored version, then the model's.
    """
    wanted = [
        Wanted(chunk.key, plan.outline.recipe.extractor, chunk.passage)
        for plan in plans
        if plan.outline.recipe.extractor is not None
        for chunk in plan.new_chunks
        if chunk.key is not None
    ]
    known = _known(ports, tenant_id, leased, [each.key for each in wanted])
    missing = [each for each in wanted if each.key not in known]
    extractions = Extractions()
    if missing and ports.text_model is not None:
        chunks = len({each.key for each in wanted})
        checkpoint = Checkpoint(
            ports, tenant_id, leased.lease, account, total=chunks, known=len(known), is_bounded=leased.is_bounded
        )
        extractions = extract_all(
            ports.text_model,
            missing,
            account.take,
            checkpoint.keep,
            in_flight=ports.settings.hindsight_api_retain_parallelism,
            give_up_at=give_up_at,
            may_ask=checkpoint.may_ask,
        )
    extractions.found.update(known)
    return extractions


def _named(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, made: list[Draft]) -> list[Draft]:
    """The drafts with the bank's entities for their names."""
    if not any(draft.names for draft in made):
        return made
    floor = max(
        ports.settings.hindsight_api_entity_trgm_similarity_threshold,
        ports.settings.hindsight_api_entity_merge_min_similarity,
    )
    with ports.store.transaction(tenant_id) as tx:
        return named(made, resolve(tx.entities, leased.bank.bank_id, names_of(made), floor))


def _known(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, keys: list[str]) -> dict[str, Extraction]:
    known = {key: leased.kept[key] for key in keys if key in leased.kept}
    asked = [key for key in keys if key not in known]
    bank_id, operation_id = leased.bank.bank_id, leased.lease.operation_id
    again = {planned_id(bank_id, operation_id, task) for task in leased.tasks if task.is_again}
    asking = [document_id for document_id in leased.stored if document_id not in again]
    if asked and asking:
        with ports.store.transaction(tenant_id) as tx:
            known |= tx.documents.extractions(bank_id, asking, asked)
    return {key: from_json(kept) for key, kept in known.items()}


def _outline(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, task: DocumentTask) -> Outline:
    strategy = task.parts[0].strategy if task.parts else None
    recipe = recipe_of(ports.settings, tenant_id, leased.bank, strategy, has_model=ports.text_model is not None)
    bank_id, operation_id = leased.bank.bank_id, leased.lease.operation_id
    return outline(bank_id, operation_id, task, recipe, leased.stored.get(planned_id(bank_id, operation_id, task)))


def _link_rule(ports: RetainPorts, leased: LeasedOperation, new_facts: int) -> LinkRule:
    return link_rule(ports.settings, leased.facts_in_bank + new_facts)
