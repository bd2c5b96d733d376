"""Begins a run: settles, once, what it may do and what its calls are made from; reads it back for every later step.

Called by the steps; calls the tools for what the caller may use, and ports.pages for what a refresh is to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hindsight_aws.access import sight
from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.directives.apply import in_force
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.ports.page_keeper import DataBlock, PageBasis
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.asking.compliance import Rule, rules_from_json, rules_to_json
from hindsight_aws.reflect.asking.model_call import Asking, model_call
from hindsight_aws.reflect.conversation.transcript import Transcript
from hindsight_aws.reflect.loop.codec import state_from_json, state_to_json
from hindsight_aws.reflect.loop.state import (
    CLOSING_TASK,
    REWRITE_TASK,
    STRUCTURE_TASK,
    TURN_TASK,
    VERIFY_TASK,
    RunLimits,
    RunState,
)
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.request import Budget, ReflectJob, job_from_json
from hindsight_aws.reflect.tools import toolbox
from hindsight_aws.settings import Settings

_SHARES = {Budget.LOW: 0.5, Budget.MID: 1.0, Budget.HIGH: 2.0}
PLAN, PAGE, DIRECTIVES, QUESTION = "plan", "page", "directives", "question"


def first_state(ports: ReflectPorts, tx: Transaction, run: Run) -> JsonObject:
    """The first state of a run's row: `plan` for the planner, `page` for a refresh.

    Raises: NotFound for a refresh when its page is gone.
    """
    basis = ports.pages.basis(tx, run) if run.kind == "refresh" else None
    job = job_from_json(run.request if basis is None else basis.request)
    config = _config(ports, tx, run)
    rules = _rules(ports.settings, tx, run.bank_id, job)
    limits = _limits(ports.settings, config, tx, run.bank_id, job, basis)
    if basis is None:
        limits = replace(limits, after=_after(config, job, rules))
    document: JsonObject = {PLAN: state_to_json(RunState(limits)), DIRECTIVES: rules_to_json(rules)}
    if basis is not None:
        document[PAGE] = {"request": basis.request, "kept": basis.kept, "blocks": _written(basis.blocks)}
    return document


def asking_of(ports: ReflectPorts, tx: Transaction, run: Run) -> Asking:
    """What every call of a settled run is made from."""
    settled = _object(run.state.get(PAGE))
    job = job_of(run)
    bank = tx.banks.by_id(run.bank_id)
    return Asking(
        job,
        _config(ports, tx, run),
        ports.settings,
        job.request.asked_at or run.created_at,
        _read(settled.get("blocks")),
        rules_from_json(run.state.get(DIRECTIVES)),
        None if bank is None else bank.label,
    )


def job_of(run: Run) -> ReflectJob:
    """What a settled run is asked, and by whom."""
    return job_from_json(_object(_object(run.state.get(PAGE)).get("request")) or run.request)


def ending_blocks(ports: ReflectPorts, run: Run, asking: Asking) -> Asking:
    """The same, with the blocks of a page's ending as the endings before it have made them."""
    if run.kind != "refresh":
        return asking
    state = state_from_json(_object(run.state.get(PLAN)))
    later = ports.pages.blocks(kept_of(run), state.task, state.said)
    kinds = {block.kind for block in later}
    first = [block for block in asking.blocks.get(state.task, ()) if block.kind not in kinds]
    return replace(asking, blocks={**asking.blocks, state.task: (*first, *later)})


def kept_of(run: Run) -> JsonObject:
    """What a refresh wanted to know again."""
    return _object(_object(run.state.get(PAGE)).get("kept"))


def first_turn(settings: Settings, tx: Transaction, bank: Bank, job: ReflectJob, now: datetime) -> ModelCall:
    """The call of a run's first search turn, had it begun now and had nothing been found yet."""
    config = resolve(settings, bank.overrides)
    rules = tuple(_rules(settings, tx, bank.bank_id, job))
    state = RunState(_limits(settings, config, tx, bank.bank_id, job, None))
    asking = Asking(job, config, settings, now, rules=rules, name=bank.label)
    return model_call(asking, state, TURN_TASK, Transcript((), (), 0))


def _limits(
    settings: Settings, config: BankConfig, tx: Transaction, bank_id: BankId, job: ReflectJob, basis: PageBasis | None
) -> RunLimits:
    has_pages = toolbox.has_pages(tx, job, bank_id)
    enabled = toolbox.enabled(job, config, has_pages=has_pages)
    request = job.request
    holds = has_pages or tx.reflect.has_memories(bank_id, toolbox.searched_types(job))
    return RunLimits(
        question=request.query,
        first=tuple(name for name in toolbox.LAYERS if name in enabled),
        tools=enabled,
        turns=max(1, int(settings.hindsight_api_reflect_max_iterations * _SHARES[request.budget])),
        context_tokens=settings.hindsight_api_reflect_max_context_tokens,
        has_memories=bool(enabled) and holds and (basis is None or basis.searches),
        sequential=settings.hindsight_api_reflect_sequential_search,
        thorough=request.budget is Budget.HIGH,
        endings=(CLOSING_TASK,) if basis is None else basis.endings,
        after=() if basis is None else basis.after,
        max_tokens=request.max_tokens,
    )


def _rules(settings: Settings, tx: Transaction, bank_id: BankId, job: ReflectJob) -> list[Rule]:
    """The directives that bind the run, as they are now; a change while it runs does not reach it."""
    request, within = job.request, sight(job.principal).tags
    found = in_force(tx, settings, job.principal, bank_id, request.tags, apply_all=request.apply_all_directives)
    return [Rule(str(one.id), one.name, one.content, within.matches(one.tags)) for one in found]


def _after(config: BankConfig, job: ReflectJob, rules: Sequence[Rule]) -> tuple[str, ...]:
    """What may follow an answer, in this order."""
    verify = (VERIFY_TASK,) if rules and config.verify_directives else ()
    return (REWRITE_TASK, *verify, *((STRUCTURE_TASK,) if job.request.wants_structure else ()))


def _config(ports: ReflectPorts, tx: Transaction, run: Run) -> BankConfig:
    bank = tx.banks.by_id(run.bank_id)
    return resolve(ports.settings, {} if bank is None else bank.overrides)


def _written(blocks: Mapping[str, tuple[DataBlock, ...]]) -> JsonObject:
    return {
        task: [{"kind": block.kind, "document": block.document} for block in shown] for task, shown in blocks.items()
    }


def _read(document: JsonValue) -> Mapping[str, tuple[DataBlock, ...]]:
    if not isinstance(document, dict):
        return {}
    return {
        task: tuple(DataBlock(str(one["kind"]), one["document"]) for one in shown if isinstance(one, dict))
        for task, shown in document.items()
        if isinstance(shown, list)
    }


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
