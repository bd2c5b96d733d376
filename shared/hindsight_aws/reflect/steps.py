"""The steps of a reflect run between its calls: each reads the run's rows, does one thing, and writes it.

Called by jobs/reflect.py.  Every step may be repeated or killed at any point: a decision is taken once (compare-and-set
on the turn), a reply that was stored is never paid for again, and a run ends once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from hindsight_aws.errors import ModelDenied, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.pages import FoundPiece
from hindsight_aws.ports.reflect import Run, Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.aftermath import added, told_of
from hindsight_aws.reflect.answer import Ended, answer_document
from hindsight_aws.reflect.asking import shown
from hindsight_aws.reflect.citations import as_told
from hindsight_aws.reflect.codec import action_from_json, action_to_json, state_from_json, state_to_json
from hindsight_aws.reflect.compliance import rules_from_json
from hindsight_aws.reflect.forgotten import is_all_there
from hindsight_aws.reflect.happened import event_of, is_cut_short
from hindsight_aws.reflect.planner import plan
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.question import embed_question, is_to_be_embedded
from hindsight_aws.reflect.request import ReflectJob, job_from_json
from hindsight_aws.reflect.rows import RunRef, is_at, plan_of, run_of
from hindsight_aws.reflect.settle import DIRECTIVES, PLAN, kept_of, pages_of, settle
from hindsight_aws.reflect.state import STRUCTURE_TASK, Action, ExtractClaims, Finish, GiveUp, RanOut, RunTools
from hindsight_aws.reflect.transcript import TOOL_STEP, claims_step, tell

COMPOSED_STEP = "composed"
MOST_TURNS = 120
"""Decisions of one run at most; the workflow's guard stops it there, whatever the planner says."""


def prepare(ports: ReflectPorts, ref: RunRef) -> JsonObject:
    """Settles what the run may do, once, and embeds its question; returns the workflow's payload.

    Raises: NotFound when there is no such run, and what an embedder raises.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if not run.state:
            run = replace(run, state=settle(ports, tx, run))
            tx.reflect.begin(ref.bank_id, ref.run_id, run.state)
        bank = tx.banks.by_id(ref.bank_id)
    if bank is not None and is_to_be_embedded(run):
        embed_question(ports, ref, run, bank)
    return _payload(ref, run.turn, "plan")


def decide(ports: ReflectPorts, ref: RunRef, error: str | None) -> JsonObject:
    """Takes the run's next decision and returns the workflow's payload; `error` names how the step before failed.

    Guarantees: repeated for the same turn, it returns the decision that was taken.

    Raises: WorkSuperseded when the run is further than this turn's successor.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if is_at(run, ref):
            state = state_from_json(plan_of(run))
            after, action = plan(state, event_of(ports, tx, run, state, error))
            if is_cut_short(run, after):
                after, action = plan(after, RanOut())
            document: JsonObject = {**run.state, PLAN: state_to_json(after)}
            if tx.reflect.advance(ref.bank_id, ref.run_id, ref.turn, document, action_to_json(action)):
                if isinstance(action, RunTools):
                    tx.reflect.record(ref.bank_id, ref.run_id, _refusals(ref.turn + 1, action))
                return _told(ref, ref.turn + 1, action)
            run = run_of(tx, ref)
        if run.status == "running" and run.turn == ref.turn + 1 and run.action is not None:
            return _told(ref, run.turn, action_from_json(run.action))
        if run.status != "running":
            return _payload(ref, run.turn, "finish" if run.status == "completed" else "fail")
    raise WorkSuperseded(f"the run is at turn {run.turn}, this step at {ref.turn}")


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
            pages_of(ports).failed(tx, run, error, cause)
        if not tx.reflect.fail(ref.bank_id, ref.run_id, error, cause):
            raise WorkSuperseded("the run was ended meanwhile")


def _held(tx: Transaction, ref: RunRef) -> Run:
    """The run, locked unless its page's operation is to be locked before it."""
    run = run_of(tx, ref)
    if _is_leased(run):
        return run
    tx.reflect.hold(ref.bank_id, ref.run_id)
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
    ended = Ended(action.answer, evidence, steps, told_of(rules, kept))
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
        pieces = _pieces(tx.reflect.steps(ref.bank_id, ref.run_id))
    composed = pages_of(ports).compose(run, kept_of(run), _ending(run).said, pieces)
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
    return pages_of(ports).commit(tx, run, kept_of(run), action.said, _pieces(steps), composed)


def _pieces(steps: Sequence[Step]) -> list[FoundPiece]:
    return [
        FoundPiece(piece.kind, str(piece.id), piece.alias, piece.text, piece.date) for piece in tell(steps).evidence
    ]


def _refusals(turn: int, action: RunTools) -> Sequence[Step]:
    return [
        Step(
            turn,
            f"{TOOL_STEP}{index}",
            {"use_id": call.use_id, "name": call.name, "said": call.said},
            {"refusal": call.refusal},
            0,
        )
        for index, call in enumerate(action.calls)
        if call.refusal is not None
    ]


def _told(ref: RunRef, turn: int, action: Action) -> JsonObject:
    name = action_to_json(action)["action"]
    if isinstance(action, RunTools):
        names = [f"{TOOL_STEP}{index}" for index, call in enumerate(action.calls) if call.refusal is None]
    else:
        names = [claims_step(chunk) for chunk in action.chunks] if isinstance(action, ExtractClaims) else []
    return _payload(ref, turn, str(name), names)


def _payload(ref: RunRef, turn: int, action: str, names: Sequence[str] = ()) -> JsonObject:
    """What travels between the states: ids, the turn, the action's name, and which steps a map is to run."""
    calls: list[JsonValue] = [{"step": name} for name in names]
    return {
        "tenant_id": str(ref.tenant_id),
        "bank_id": str(ref.bank_id),
        "run_id": str(ref.run_id),
        "turn": turn,
        "action": action,
        "calls": calls,
    }
