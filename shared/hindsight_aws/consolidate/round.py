"""One round of a drain: one answer about a batch and what was shown beside it, one plan, one transaction.

Called by the drain, with what read.py read, and by compaction; calls ask, check, reconcile and verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID, uuid4

from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.consolidate.ask import (
    Caller,
    Judgement,
    Revision,
    ask_for_judgement,
    ask_for_revision,
    caller_of,
    judgement_call,
    revision_call,
)
from hindsight_aws.consolidate.batch import ALONE, attempts_after, looks_after
from hindsight_aws.consolidate.check import make_plan
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.reconcile import Vector, reconcile
from hindsight_aws.consolidate.verdicts import counts_of, settle
from hindsight_aws.errors import ModelDenied, ModelUnavailable, WorkCancelled, WorkDeferred, WorkRaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import RunId
from hindsight_aws.model.plan import Plan, ShownObservation
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.consolidation import Neighbour, PendingFact, RunRecord, ScopeLease
from hindsight_aws.ports.model_gateway import Embedder, ModelCall, ModelUsage
from hindsight_aws.ports.observations import Application, ObservationWrite
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.usage.allowance import Allowance

if TYPE_CHECKING:
    from hindsight_aws.model.bank import Bank
    from hindsight_aws.ports.store import Transaction

_DUPLICATES_PROBED = 5


@dataclass(slots=True)
class Round:
    """A batch of one scope's facts and what is shown with it; `run` may be called once.

    `is_counted`: the question about the batch is noted on its rows.  `is_unheard`: it was asked and not answered.
    """

    ports: ConsolidationPorts
    where: ScopeAddress
    lease: ScopeLease
    bank: Bank
    policy: Policy
    batch: list[PendingFact]
    observations: list[ShownObservation]
    room: int | None
    batch_size: int
    has_time: Callable[[], bool]
    run_id: UUID = field(default_factory=uuid4)
    usage: list[ModelUsage] = field(default_factory=list)
    judged: int = 0
    is_counted: bool = False
    is_unheard: bool = False
    started_at: datetime = field(init=False)
    _allowance: Allowance = field(init=False)

    def __post_init__(self) -> None:
        self.started_at = self.ports.clock.now()
        self._allowance = Allowance(self.where.tenant_id, self.ports.clock)

    @property
    def deferrals(self) -> int:
        """How often the batch was put off already."""
        return max(row.deferrals for row in self.batch)

    @property
    def calls(self) -> int:
        """How many calls about the batch settled nothing before."""
        return max(row.calls for row in self.batch)

    def run(self) -> bool:
        """Asks, plans and applies; False when the batch changed meanwhile and the answer was discarded.

        Raises: what the model raises, with its usage kept for the ledger; WorkSuperseded when the lease is lost,
        WorkCancelled when the work was cancelled, WorkRaced.  A batch that changed meanwhile is discarded: its facts
        are still pending and are read again.
        """
        plan = self._plan()
        try:
            writes = reconcile(plan, self, self.ports.settings.hindsight_api_consolidation_dedup_threshold)
        except (WorkSuperseded, WorkRaced):
            self.keep_usage()
            raise
        reached("consolidate.after_model")
        try:
            self._apply_once_more(plan, writes)
        except (WorkSuperseded, WorkRaced) as changed:
            self._discard(str(changed))
            return False
        reached("consolidate.after_apply")
        return True

    def write(self, writes: Sequence[ObservationWrite]) -> None:
        """Writes what no fact of the batch is behind, as one applied run.

        Raises: WorkSuperseded when lease, policy or an observation changed meanwhile; WorkRaced.
        """
        self._apply(Plan(), writes)

    def keep_usage(self) -> None:
        """Writes down what calls cost that nothing else is written of."""
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            self._record_usage(tx)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        found = self._embedder.embed(texts, "document", self.usage.append)
        return [None if embedding.is_zero else embedding.values for embedding in found]

    def neighbours(self, vectors: Sequence[Sequence[float]]) -> list[list[Neighbour]]:
        at_least = self.ports.settings.hindsight_api_consolidation_dedup_threshold
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.vectors.lock_shared(self.where.bank_id, self._embedder.model)
            return tx.consolidation.neighbours(
                self.where.bank_id, self.where.scope_id, vectors, at_least, _DUPLICATES_PROBED
            )

    def judge(self, new: str, existing: str) -> Judgement:
        most = self.ports.settings.hindsight_consolidation_max_duplicate_checks
        if self.ports.text_model is None or self.judged >= most or not self.has_time():
            return Judgement(is_same=False)
        call = judgement_call(self._caller, new, existing)
        if self._may_ask(f"judge {self.judged}", call) is not None:
            return Judgement(is_same=False)
        self.judged += 1
        return ask_for_judgement(self.ports.text_model, call, self.usage.append)

    def defer(self, until: datetime, error: str, *, fails_after: int | None, is_denied: bool = False) -> None:
        """Puts the scope's due work off, and keeps what the failed calls cost.

        `is_denied`: waiting does not help whoever asked for the work, whose operations fail.
        """
        if is_denied:
            # Not in one transaction with what follows: it locks the work of other scopes.
            with self.ports.store.transaction(self.where.tenant_id) as tx:
                tx.consolidation.refuse_operations(self.where.bank_id, self.where.scope_id, error)
        unheard = [row.work_id for row in self.batch] if self.is_unheard else []
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.consolidation.defer(
                self.where.bank_id, self.lease, until, error, fails_after=fails_after, unheard=unheard
            )
            self._record_usage(tx)

    def note_bad_answer(self, error: str) -> None:
        """Brings the batch into smaller company; a fact that was alone fails, in this scope only."""
        size = self.batch_size
        attempts = attempts_after(len(self.batch), max(row.attempts for row in self.batch), size)
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.consolidation.record_failure(
                self.where.bank_id,
                self.lease,
                self._record("failed", {"facts": len(self.batch)}),
                [row.work_id for row in self.batch],
                error,
                attempts=attempts,
                is_final=len(self.batch) == 1,
                most_calls=self._most_calls,
            )
            self._record_usage(tx)

    @property
    def _embedder(self) -> Embedder:
        """That of the bank's vectors.  Raises: ModelDenied where it is not served."""
        found = self.ports.embedder.of(self.bank.embedding_model)
        if found is None:
            raise ModelDenied(f"the model of the bank's vectors, {self.bank.embedding_model}, is not served")
        return found

    @property
    def _most_calls(self) -> int:
        return self.ports.settings.hindsight_consolidation_max_calls

    @property
    def _caller(self) -> Caller:
        return caller_of(self.ports.settings, self.where.tenant_id, self.bank.external_id)

    def _plan(self) -> Plan:
        facts = [row.fact for row in self.batch]
        if self.room == 0 and not self.observations:
            return Plan(capped=frozenset(fact.id for fact in facts))
        if self.ports.text_model is None:
            raise ModelUnavailable("no text model is configured")
        was_refused = any(row.was_refused_delete for row in self.batch)
        call = revision_call(self._caller, self.policy, Revision(facts, self.observations, self.room, was_refused))
        refusal = self._may_ask("revision", call, begins=True)
        if refusal is not None:
            raise refusal
        reached("consolidate.before_model")
        self.is_counted = self.is_unheard = True
        reply = ask_for_revision(self.ports.text_model, call, self.usage.append)
        self.is_unheard = False
        return make_plan(reply, facts, self.observations, self.room)

    def _apply_once_more(self, plan: Plan, writes: Sequence[ObservationWrite]) -> None:
        """Applies an answer that was paid for; where the database ended the attempt for another's sake, twice."""
        try:
            self._apply(plan, writes)
        except WorkRaced:
            self._apply(plan, writes)

    def _apply(self, plan: Plan, writes: Sequence[ObservationWrite]) -> None:
        settled = settle(self.batch, plan, writes)
        alone = settled.asks_alone
        application = Application(
            run=self._record("applied", counts_of(settled, plan, writes)),
            writes=tuple(writes),
            verdicts=settled.verdicts,
            overlooked=settled.overlooked,
            looks=ALONE if alone else looks_after(len(self.batch), len(settled.overlooked), self.batch_size),
            refused_delete=alone,
            most_calls=self._most_calls,
            facts={row.fact.id: row.fact.version for row in self.batch},
        )
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.vectors.lock_shared(self.where.bank_id, self._embedder.model)
            tx.observations.apply(self.where.bank_id, self.lease, application)
            bank = tx.banks.by_id(self.where.bank_id)
            if bank is None or policy_of(resolve(self.ports.settings, bank.overrides), self.lease.tags) != self.policy:
                raise WorkSuperseded("the scope's policy changed while the model was asked")
            self._record_usage(tx)
            reached("consolidate.before_commit")

    def _discard(self, reason: str) -> None:
        """Forgets an answer that came too late, but not that it was asked for."""
        self.keep_usage()
        self._renew()
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            if self.is_counted:
                work_ids = [row.work_id for row in self.batch]
                tx.consolidation.discard_answer(self.where.bank_id, work_ids, reason, most_calls=self._most_calls)

    def _may_ask(self, name: str, call: ModelCall, *, begins: bool = False) -> WorkDeferred | None:
        """Extends the lease for another model call; why that call must not be made, if so.

        `begins`: it is the one about the batch, and counted on its rows if it is made.
        Raises: WorkSuperseded when the lease was lost, WorkCancelled when the work was cancelled.
        """
        if not self._renew(begins_call=begins):
            return None
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            refusal = self._allowance.ask(tx, lambda: {name: call}).refusal
        if begins and refusal is None:
            with self.ports.store.transaction(self.where.tenant_id) as tx:
                tx.consolidation.begin_call(self.where.bank_id, [row.work_id for row in self.batch])
        return refusal

    def _renew(self, *, begins_call: bool = False) -> bool:
        """Extends the lease; whether the tenant has limits, and is to be asked before another model call.

        A call that begins is counted on the batch's rows, unless it is asked for first.
        Raises: WorkSuperseded when the lease was lost, WorkCancelled when the work was cancelled; VectorsReplaced, so
        that no answer is paid for that could not be written.
        """
        seconds = self.ports.settings.hindsight_api_consolidation_lease_seconds
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            is_bounded = tx.limits.standing(self.ports.clock.now()).is_bounded
            is_ours = tx.consolidation.renew_lease(self.where.bank_id, self.lease, seconds)
            is_cancelled = is_ours and tx.consolidation.was_cancelled(self.where.bank_id, self.lease)
            if begins_call:
                tx.vectors.lock_shared(self.where.bank_id, self._embedder.model)
            if begins_call and is_ours and not is_cancelled and not is_bounded:
                tx.consolidation.begin_call(self.where.bank_id, [row.work_id for row in self.batch])
        if not is_ours:
            raise WorkSuperseded("the scope's lease was taken over")
        if is_cancelled:
            raise WorkCancelled("the consolidation was cancelled")
        return is_bounded

    def _record_usage(self, tx: Transaction) -> None:
        tx.usage.record(self._ledger())
        self._allowance.settle(tx)

    def _ledger(self) -> list[LedgerEntry]:
        return [
            LedgerEntry(uuid4(), usage, None, bank_id=self.where.bank_id, run_id=RunId(self.run_id))
            for usage in self.usage
        ]

    def _record(self, status: Literal["applied", "failed"], counts: Mapping[str, int]) -> RunRecord:
        return RunRecord(
            run_id=self.run_id,
            scope_id=self.where.scope_id,
            fence=self.lease.fence,
            policy_hash=self.policy.hash,
            brief_hash=self.policy.brief_hash,
            strategy_index=self.policy.strategy_index,
            strategy_name=self.policy.strategy_name,
            prompt=prompt("consolidate").ref,
            model_id=self._caller.model,
            status=status,
            counts=dict(counts),
            started_at=self.started_at,
        )


def only_requested(config: BankConfig, lease: ScopeLease) -> bool:
    """Whether only work that somebody asks for from now on is due in the scope.

    Where consolidation runs by itself all of it is; so it is for a worker that was asked for, what comes meanwhile
    included, and for that of a shadow, which is its rebuild's.
    """
    return not config.enable_auto_consolidation and lease.rebuilds is None and not lease.is_requested
