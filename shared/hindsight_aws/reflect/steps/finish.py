"""The steps `finish` and `fail`: a run ends once, with its answer, with its page, or without either.

Called by jobs/reflect.py; both may be repeated or killed at any point.  Calls answer/, and `ports.pages` for a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from hindsight_aws.errors import ModelDenied, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.page_keeper import FoundPiece
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.answer.aftermath import added, told_of
from hindsight_aws.reflect.answer.body import RunEnd, answer_document
from hindsight_aws.reflect.answer.citations import as_told
from hindsight_aws.reflect.answer.forgotten import is_all_there
from hindsight_aws.reflect.asking.compliance import rules_from_json
from hindsight_aws.reflect.asking.model_call import shown
from hindsight_aws.reflect.conversation.transcript import tell
from hindsight_aws.reflect.loop.codec import action_from_json, state_from_json
from hindsight_aws.reflect.loop.state import STRUCTURE_TASK, Finish, GiveUp
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.request import ReflectJob, job_from_json
from hindsight_aws.reflect.steps.begin import DIRECTIVES, kept_of
from hindsight_aws.reflect.steps.rows import RunRef, plan_of, run_of

COMPOSED_STEP = "composed"
MOST_TURNS = 120
"""Decisions of one run at most; the workflow's guard stops it there, whatever the planner says."""


def finish(ports: ReflectPorts, ref: RunRef) -> None:
    """Writes the run's answer, or its page, once: citations checked, sources read again.  The steps' texts then go.

    An answer from what was deleted meanwhile is given to nobody: the run ends without one.

    Raises: WorkSuperseded when somebody else ended the run meanwhile; nothing of this end is then written.
    """
    composed = _composed(ports, ref)
    with ports.store.transaction(ref.tenant_id) as tx:
        run = _held(tx, ref)
        if run.status != "running":
            return
        body = _body(ports, tx, run, composed)
        if not tx.reflect.complete(ref.bank_id, ref.run_id, body):
            raise WorkSuperseded("the run was ended meanwhile: what was written with this end is taken back")
        tx.reflect.forget_steps(ref.bank_id, ref.run_id)
        reached("reflect.before_finish")


def fail(ports: ReflectPorts, ref: RunRef, error: str | None, cause: str | None) -> None:
    """Ends the run without an answer; one that has ended stays as it is.

    Raises: WorkSuperseded when somebody else ended it meanwhile; what its page was told is then taken back.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if run.status != "running":
            return
        action = None if run.action is None else action_from_json(run.action)
        if error is None and isinstance(action, GiveUp):
            error, cause = action.error, action.message
        elif error is None and run.turn > MOST_TURNS:
            error, cause = "ReflectRunaway", f"the run did not end within {MOST_TURNS} decisions"
        error, cause = error or "ReflectFailed", cause or "the run gave no answer"
        if run.kind == "refresh":  # first: an operation and its page are locked before the run
            ports.pages.failed(tx, run, error, cause)
        if not tx.reflect.fail(ref.bank_id, ref.run_id, error, cause):
            raise WorkSuperseded("the run was ended meanwhile")


def _held(tx: Transaction, ref: RunRef) -> Run:
    """The run, locked unless its page's operation is to be locked before it."""
    run = run_of(tx, ref)
    if _is_leased(run):
        return run
    tx.reflect.lock(ref.bank_id, ref.run_id)
    return run_of(tx, ref)


def _is_leased(run: Run) -> bool:
    return run.kind == "refresh" and run.request.get("operation_id") is not None


def _body(ports: ReflectPorts, tx: Transaction, run: Run, composed: JsonObject) -> JsonObject | None:
    """What the run ends with; None where memory was deleted under it and may stand in its words.

    A leased refresh has none: its page is withheld by what it rests on.
    """
    action, steps = _ending(run), tx.reflect.steps(run.bank_id, run.run_id)
    if run.kind == "refresh":
        told = _page(ports, tx, run, action, steps, composed)
        return None if run.is_forgotten and not _is_leased(run) else told
    job = job_from_json(run.request)
    if run.is_forgotten and not is_all_there(tx, run.bank_id, job, steps):
        return None
    return _answer(tx, run, job, action, steps)


def _answer(tx: Transaction, run: Run, job: ReflectJob, action: Finish, steps: Sequence[Step]) -> JsonObject:
    state, rules, told = state_from_json(plan_of(run)), rules_from_json(run.state.get(DIRECTIVES)), tell(steps)
    evidence = shown(state, told)
    kept = tx.directives.among(run.bank_id, [UUID(rule.id) for rule in rules]) if rules and action.answer else ()
    ended = RunEnd(action.answer, evidence, steps, told_of(rules, kept))
    body = answer_document(tx, run.bank_id, run.run_id, job, ended)
    asked = (job.request.query, job.request.context or "", *(rule.content for rule in rules))
    structured = as_told(action.said.get(STRUCTURE_TASK), evidence, told, asked)
    return {**body, **added(action, rules, state.limits.after, structured)}


def _composed(ports: ReflectPorts, ref: RunRef) -> JsonObject:
    """What a page needs that takes a model: made outside a transaction, and kept: it is paid for once."""
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if run.status != "running" or run.kind != "refresh":
            return {}
        known = tx.reflect.step(ref.bank_id, ref.run_id, run.turn, COMPOSED_STEP)
        if known is not None:
            return known.output or {}
    composed = ports.pages.compose(run, kept_of(run), _ending(run).said)
    with ports.store.transaction(ref.tenant_id) as tx:
        tx.reflect.record(ref.bank_id, ref.run_id, [Step(run.turn, COMPOSED_STEP, {}, composed)])
    return composed


def _ending(run: Run) -> Finish:
    action = action_from_json(run.action or {})
    if not isinstance(action, Finish):
        raise ModelDenied("this run has no answer to write")
    return action


def _page(
    ports: ReflectPorts, tx: Transaction, run: Run, action: Finish, steps: Sequence[Step], composed: JsonObject
) -> JsonObject:
    found = [
        FoundPiece(piece.kind, str(piece.id), piece.alias, piece.text, piece.date) for piece in tell(steps).evidence
    ]
    return ports.pages.commit(tx, run, kept_of(run), action.said, found, composed)
