"""Undoes a run: what it made goes, what it changed or ended comes back, and its facts are open again.

Called by the API; calls ports/runs and, outside any transaction, the embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import Conflict, LeaseHeld, NotFound, WorkRaced, WorkSuperseded
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import RunId, ScopeId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.operations.again import again
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, serving
from hindsight_aws.ports.runs import Restored, Trace
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.text.terms import frequencies

_MOST_NAMED = 20
_PAUSES_S = (0.05, 0.1, 0.2)
"""How long to wait after each attempt that met others at work."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did: observations that went and came back, and facts that are open again."""

    removed: int
    restored: int
    reopened: int


def revert(ports: ConsolidationPorts, principal: Principal, external_id: str, run_id: RunId, *, retry: bool) -> Undone:
    """Restores the scope as it was before the run.

    The run's facts wait until somebody asks for consolidation or, with `retry`, are consolidated again now.

    Guarantees: all or nothing; what was there stays in the history.
    Raises: NotFound, AccessDenied; Conflict when later runs changed what this one wrote, naming them, when there is
    nothing to go back to, and when others keep coming in between; LeaseHeld while the scope is being worked on, but for
    a moment's patience, in which another undo ends; VectorsReplaced while the bank goes to another model.
    """
    require_bank(principal, external_id)
    require(principal, Permission.ADMIN)
    require_whole_bank(principal)
    return again(
        lambda: _attempt(ports, principal, external_id, run_id, retry=retry),
        passing=(LeaseHeld, WorkSuperseded, WorkRaced),
        pauses_s=_PAUSES_S,
        refusal="The observations of this run are being changed by others; nothing was reverted",
    )


def _attempt(
    ports: ConsolidationPorts, principal: Principal, external_id: str, run_id: RunId, *, retry: bool
) -> Undone:
    """One attempt, which starts from the rows as they are now."""
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        trace = tx.runs.trace(bank.bank_id, run_id)
        if trace is None:
            raise NotFound(f"Consolidation run '{run_id}' not found")
        _require_revertible(trace)
        seconds = ports.settings.hindsight_api_consolidation_lease_seconds
        lease = tx.consolidation.take_lease(bank.bank_id, trace.scope_id, seconds)
    if lease is None:
        raise LeaseHeld("the scope is being consolidated just now")
    return _undo(ports, principal, bank, lease, run_id, trace, retry=retry)


def _undo(
    ports: ConsolidationPorts,
    principal: Principal,
    bank: Bank,
    lease: ScopeLease,
    run_id: RunId,
    trace: Trace,
    *,
    retry: bool,
) -> Undone:
    usage: list[ModelUsage] = []
    bank_id = bank.bank_id
    try:
        embedder = serving(ports.embedder, bank.embedding_model)
        restored = _restored(embedder, trace, usage)
        with ports.store.transaction(principal.tenant_id) as tx:
            tx.vectors.lock_shared(bank_id, embedder.model)
            reopened = tx.runs.undo(bank_id, lease, run_id, trace, restored, retry=retry)
            mark_written(tx, bank_id)
    finally:
        with ports.store.transaction(principal.tenant_id) as tx:
            tx.consolidation.release_lease(bank_id, lease, even_if_woken=True)
            entries = [LedgerEntry(uuid4(), used, principal.subject, bank_id=bank_id, run_id=run_id) for used in usage]
            tx.usage.record(entries)
    if retry:
        ports.wakeups.wake_scopes(principal.tenant_id, bank_id, [ScopeId(lease.scope_id)])
    gone = sum(one.is_there and one.former is None for one in trace.touched)
    return Undone(gone, len(restored), reopened)


def _require_revertible(trace: Trace) -> None:
    """Lets a run pass that can be undone.  Raises Conflict, saying why another cannot."""
    if trace.is_reverted:
        raise Conflict("This run has been reverted already")
    if trace.is_sealed:
        raise Conflict("What this run wrote was replaced by a rebuild of its scope and is sealed")
    if trace.status != "applied":
        raise Conflict("This run came to nothing: there is nothing to revert")
    if trace.is_rebuilding:
        raise Conflict("The observations of this run's scope are being made anew")
    later = list(dict.fromkeys(run for one in trace.touched for run in one.later_runs))
    if later or trace.twins:
        named = ", ".join(str(run) for run in [*later, *trace.twins][:_MOST_NAMED])
        raise Conflict(f"Later runs build on this one; revert them first: {named}")
    if any(one.is_changed_otherwise or one.is_blanked for one in trace.touched):
        raise Conflict("Facts that this run's observations rested on have changed or gone since")


def _restored(embedder: Embedder, trace: Trace, usage: list[ModelUsage]) -> Sequence[Restored]:
    """What was there before the run, each wording embedded again."""
    back = [(one, one.former) for one in trace.touched if one.former is not None]
    if not back:
        return ()
    found = embedder.embed([former.text for _, former in back], "document", usage.append)
    return [
        Restored(
            observation_id=one.observation_id,
            former=former,
            is_there=one.is_there,
            embedding=None if embedding.is_zero else embedding.values,
            terms=frequencies(former.text),
        )
        for (one, former), embedding in zip(back, found, strict=True)
    ]
