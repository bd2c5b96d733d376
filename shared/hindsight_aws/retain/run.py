"""Does a retain operation, once: lease, extraction outside any transaction, then everything in one commit.

Called by `retain` and by the ingest job; calls begin, plan, extraction, assemble and commit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from hindsight_aws.errors import (
    Conflict,
    InvalidRequest,
    ModelError,
    ModelUnavailable,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.memories import LinkRule
from hindsight_aws.retain import points
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.assemble import drafts, facts
from hindsight_aws.retain.begin import LeasedOperation, begin
from hindsight_aws.retain.commit import MOST_LINKS, Prepared, commit
from hindsight_aws.retain.extraction.extract_all import Extractions, Wanted, extract_all
from hindsight_aws.retain.extraction.found import Extraction, from_json, to_json
from hindsight_aws.retain.extraction.recipes import config_of, recipe_of
from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.plan import DocumentPlan, plan_document, planned_id
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.settle import fail, overtaken, put_off, wake
from hindsight_aws.retain.triage import sort_out


def run_retain(ports: RetainPorts, tenant_id: TenantId, operation_id: OperationId, seconds: float) -> Attempt:
    """One attempt at the operation, taking about `seconds` at most.

    Guarantees: at any moment one attempt at most can commit; a repeated call stores nothing twice and repeats no model
    call whose result was kept.  Raises: DatabaseUnavailable; the rows then say what is left to do.
    """
    with ports.store.transaction(tenant_id) as tx:
        leased = begin(tx, operation_id, ports.settings.hindsight_retain_lease_seconds)
        operation = None if leased is not None else tx.operations.find(operation_id)
    if leased is not None:
        return carry_out(ports, tenant_id, leased, seconds)
    is_open = operation is not None and operation.status in ("pending", "processing")
    return Attempt("busy" if is_open else "absent")


def carry_out(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, seconds: float) -> Attempt:
    """The rest of an attempt, from a lease on.

    Always ends with the row telling what became of it, unless the database is gone.
    """
    reached(points.AFTER_LEASE)
    account = Account(leased.lease)
    try:
        _check_limits(ports, leased)
        prepared = _prepare(ports, tenant_id, leased, account, time.monotonic() + seconds)
        to_wake = commit(
            ports, tenant_id, leased.lease, prepared, account, _link_rule(ports, leased, len(prepared.facts))
        )
    except (WorkDeferred, ModelUnavailable) as passing:
        return put_off(ports, tenant_id, leased, account, passing)
    except WorkSuperseded as superseded:
        return overtaken(ports, tenant_id, account, superseded)
    except (ModelError, InvalidRequest) as final:
        return fail(ports, tenant_id, leased, account, final)
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
        plans = [_plan(ports, tenant_id, leased, task) for task in verdict.tasks]
    changed = [plan for plan in plans if not plan.is_unchanged]
    made = drafts(leased.lease.operation_id, changed, extractions.found)
    volatile = config_of(ports.settings, leased.bank, None).volatile_tags
    ready = facts(made, ports.embedder, volatile, account.take)
    reached(points.AFTER_EMBED)
    keys = {chunk.key for plan in changed for chunk in plan.chunks}
    problems = [problem for key in extractions.found if key in keys for problem in extractions.found[key].problems]
    return Prepared(plans, ready, extractions.found, problems, verdict.unfinished, verdict.error)


def _plans(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation) -> list[DocumentPlan]:
    return [_plan(ports, tenant_id, leased, task) for task in leased.tasks]


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
        Wanted(chunk.key, plan.recipe.extractor, chunk.passage)
        for plan in plans
        if plan.recipe.extractor is not None and not plan.is_unchanged
        for chunk in plan.chunks
        if chunk.key is not None
    ]
    known = _known(ports, tenant_id, leased, [each.key for each in wanted])
    missing = [each for each in wanted if each.key not in known]
    extractions = Extractions()
    if missing and ports.text_model is not None:

        def keep(found: Mapping[str, Extraction]) -> None:
            with account.unrecorded() as lines, ports.store.transaction(tenant_id) as tx:
                tx.operations.renew(leased.lease, ports.settings.hindsight_retain_lease_seconds)
                tx.operations.keep_extractions(leased.lease, {key: to_json(each) for key, each in found.items()})
                tx.usage.record(lines)

        in_flight = ports.settings.hindsight_api_retain_parallelism
        extractions = extract_all(
            ports.text_model, missing, account.take, keep, in_flight=in_flight, give_up_at=give_up_at
        )
    extractions.found.update(known)
    return extractions


def _known(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, keys: list[str]) -> dict[str, Extraction]:
    known = {key: leased.kept[key] for key in keys if key in leased.kept}
    asked = [key for key in keys if key not in known]
    if asked and leased.stored:
        with ports.store.transaction(tenant_id) as tx:
            known |= tx.documents.extractions(leased.bank.bank_id, list(leased.stored), asked)
    return {key: from_json(kept) for key, kept in known.items()}


def _plan(ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, task: DocumentTask) -> DocumentPlan:
    has_model = ports.text_model is not None
    recipe = recipe_of(ports.settings, tenant_id, leased.bank, task.parts[0].strategy, has_model=has_model)
    bank_id, operation_id = leased.bank.bank_id, leased.lease.operation_id
    stored = leased.stored.get(planned_id(bank_id, operation_id, task))
    return plan_document(bank_id, operation_id, task, recipe, stored)


def _check_limits(ports: RetainPorts, leased: LeasedOperation) -> None:
    most = ports.settings.hindsight_api_retain_max_attempts
    if leased.lease.attempts > most:
        raise ModelError(f"gave up after {most} attempts that did not come to an end")
    made_by = leased.bank.embedding_model
    if made_by is not None and made_by != ports.embedder.model:
        raise Conflict(f"the bank's vectors are made by {made_by}; those of {ports.embedder.model} cannot be mixed in")


def _link_rule(ports: RetainPorts, leased: LeasedOperation, new_facts: int) -> LinkRule:
    exact = leased.facts_in_bank + new_facts <= ports.settings.hindsight_link_exact_limit
    return LinkRule(ports.settings.hindsight_api_semantic_link_min_similarity, MOST_LINKS, exact)
