"""Asks for reflect runs, joins those that are going, waits for their end.  Called by the API; takes no step itself.

The client's own retries carry a long run: each equal request joins it until it has ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from hindsight_aws.access import bank_not_found, require, require_bank
from hindsight_aws.directives.apply import in_force
from hindsight_aws.errors import InvalidField, InvalidRequest, WorkDeferred
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import NewRun, Run
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.reflect.ports import ReflectDoor
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest, job_to_json, request_hash
from hindsight_aws.usage.allowance import parked

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.25
_GROWTH = 1.15  # an end is seen at most about so much later, in proportion, than it came
_LOST_START_S = 2.0


def submit(door: ReflectDoor, principal: Principal, bank: str, request: ReflectRequest) -> Run:
    """The run of this request: a new one, or the one that an equal request of this caller may share.

    Guarantees: equal requests at the same time share one run, as long as the bank's settings and directives are equal
    too; an unknown bank is made, as long as the caller may write.

    Raises: AccessDenied, NotFound, InvalidRequest, LimitReached where the run would be new and the tenant's model work
    waits, WorkDeferred when the workflow cannot be started now.
    """
    require(principal, Permission.READ)
    require_bank(principal, bank)
    _check(door, request)
    job = ReflectJob(principal, bank, request)
    with door.store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank)
        tags = _in_tags_of_the_bank(tx, principal, found, request.tags)
        run, is_new = _join_or_create(door, tx, found, replace(job, request=replace(request, tags=tags)))
    if run.status == "running" and (is_new or _seems_unstarted(door, run)):
        _start(door, principal, run)
    return run


def _in_tags_of_the_bank(tx: Transaction, principal: Principal, bank: Bank, tags: TagFilter) -> TagFilter:
    """The filter with its fuzzy leaves resolved.  Raises: InvalidField where that cannot be done."""
    if not tags.is_fuzzy:
        return tags
    from hindsight_aws.recall import resolve_fuzzy  # all of recall: the few who need it wait for it

    return resolve_fuzzy(tx, bank.bank_id, tags, principal)


def wait(
    door: ReflectDoor, principal: Principal, run: Run, seconds: float, pause: Callable[[float], None] = time.sleep
) -> Run:
    """The run as it is when it has ended, or after that many seconds.  An end that is returned counts as delivered."""
    give_up_at = time.monotonic() + seconds
    step = _FIRST_PAUSE_S
    run = _read(door.store, principal, run)
    while run.status == "running" and time.monotonic() < give_up_at:
        pause(min(step, max(0.0, give_up_at - time.monotonic())))
        step = min(step * _GROWTH, _LONGEST_PAUSE_S)
        run = _read(door.store, principal, run)
    if run.status != "running":
        with door.store.transaction(principal.tenant_id) as tx:
            tx.reflect.mark_delivered(run.bank_id, run.run_id)
    return run


def end_if_dead(tx: Transaction, bank_id: BankId, run_id: RunId) -> bool:
    """Marks a run failed whose execution died without a word; for the sweep.  False when there was nothing to mark.

    A refresh that it was is begun again once its lease is over.
    """
    return tx.reflect.fail_dead(bank_id, run_id)


def _start(door: ReflectDoor, principal: Principal, run: Run) -> None:
    """Starts the run, or takes it back: a caller who tries again then gets a run that can be started."""
    try:
        door.workflows.start_reflect(principal.tenant_id, run.bank_id, run.run_id)
    except WorkDeferred as refused:
        with door.store.transaction(principal.tenant_id) as tx:
            tx.reflect.fail(run.bank_id, run.run_id, "WorkDeferred", str(refused))
            tx.reflect.mark_delivered(run.bank_id, run.run_id)
        raise


def _check(door: ReflectDoor, request: ReflectRequest) -> None:
    if not request.query.strip():
        raise InvalidField("query", "must not be empty or whitespace-only")
    if request.fact_types is not None and not request.fact_types:
        raise InvalidField("fact_types", "must name at least one type")
    if door.settings.hindsight_api_llm_provider == "none":
        raise InvalidRequest("Reflect needs a language model, and HINDSIGHT_API_LLM_PROVIDER is none")


def _bank(tx: Transaction, principal: Principal, external_id: str) -> Bank:
    found = tx.banks.find(external_id)
    if found is not None:
        return found
    if Permission.WRITE not in principal.permissions:
        raise bank_not_found(external_id)
    return tx.banks.create_if_missing(external_id)


def _join_or_create(door: ReflectDoor, tx: Transaction, bank: Bank, job: ReflectJob) -> tuple[Run, bool]:
    digest = request_hash(job, bank.bank_id, _settled(door, tx, bank, job))
    within = door.settings.hindsight_reflect_join_seconds
    joined = tx.reflect.joinable(bank.bank_id, digest, within)
    if joined is not None:
        return joined, False
    if (limit := parked(tx, door.clock.now())) is not None:
        raise limit
    run_id = RunId(uuid4())
    document: JsonObject = job_to_json(job)
    new = NewRun(
        bank.bank_id,
        run_id,
        digest,
        job.principal.subject,
        document,
        door.settings.hindsight_api_reflect_wall_timeout,
    )
    is_new = tx.reflect.create(new)
    run = tx.reflect.find(bank.bank_id, run_id) if is_new else tx.reflect.joinable(bank.bank_id, digest, within)
    if run is None:
        raise AssertionError("a run that was made or found running is not there")
    return run, is_new


def _settled(door: ReflectDoor, tx: Transaction, bank: Bank, job: ReflectJob) -> JsonValue:
    """What shapes the answer besides the request: the bank's own settings, and the directives in force."""
    request = job.request
    rules = in_force(
        tx, door.settings, job.principal, bank.bank_id, request.tags, apply_all=request.apply_all_directives
    )
    overrides: JsonValue = json.loads(json.dumps(dict(bank.overrides)))
    return [overrides, [[str(rule.id), rule.updated_at.isoformat()] for rule in rules]]


def _seems_unstarted(door: ReflectDoor, run: Run) -> bool:
    """Whether whoever wrote the run may have died before starting it; starting twice does no harm."""
    age = door.settings.hindsight_api_reflect_wall_timeout - run.seconds_left
    return not run.state and age > _LOST_START_S


def _read(store: Store, principal: Principal, run: Run) -> Run:
    with store.transaction(principal.tenant_id) as tx:
        found = tx.reflect.find(run.bank_id, run.run_id)
    if found is None:
        raise bank_not_found(str(run.request.get("bank", "")))
    return found
