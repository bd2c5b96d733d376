"""One round of a drain: a batch read with all that is shown beside it, one answer, one plan, one transaction.

Called by the drain; calls ask, check and reconcile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID, uuid4

from hindsight_aws.banks.config import resolve
from hindsight_aws.consolidate.ask import Caller, Judgement, ask_for_judgement, ask_for_revision
from hindsight_aws.consolidate.batch import attempts_after, choose, looks_after
from hindsight_aws.consolidate.budget import pool, within
from hindsight_aws.consolidate.check import make_plan
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.reconcile import Vector, reconcile
from hindsight_aws.errors import ModelUnavailable, WorkRaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import RunId
from hindsight_aws.model.plan import Plan, ShownObservation
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.consolidation import Neighbour, PendingFact, RunRecord, ScopeLease
from hindsight_aws.ports.model_gateway import ModelUsage
from hindsight_aws.ports.observations import Application, ObservationWrite, Outcome, Verdict
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.text.tokens import count_tokens

if TYPE_CHECKING:
    from hindsight_aws.model.bank import Bank

_RELATED_PER_FACT = 20
_DUPLICATES_PROBED = 5
_READ_AHEAD = 4


@dataclass(slots=True)
class Round:
    """A batch of one scope's facts and what is shown with it; `run` may be called once."""

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
    started_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.started_at = self.ports.clock.now()

    @property
    def deferrals(self) -> int:
        """How often the batch was put off already."""
        return max(row.deferrals for row in self.batch)

    def run(self) -> bool:
        """Asks, plans and applies; False when the batch changed meanwhile and the answer was discarded.

        Raises: what the model raises, with its usage kept for the ledger; WorkSuperseded when the lease is lost.  A
        batch that changed
        meanwhile is discarded: its facts are still pending and are read again.
        """
        plan = self._plan()
        writes = reconcile(plan, self, self.ports.settings.hindsight_api_consolidation_dedup_threshold)
        reached("consolidate.after_model")
        try:
            self._apply(plan, writes)
        except (WorkSuperseded, WorkRaced):
            self._discard()
            return False
        reached("consolidate.after_apply")
        return True

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        found = self.ports.embedder.embed(texts, "document", self.usage.append)
        return [None if embedding.is_zero else embedding.values for embedding in found]

    def neighbours(self, vectors: Sequence[Sequence[float]]) -> list[list[Neighbour]]:
        at_least = self.ports.settings.hindsight_api_consolidation_dedup_threshold
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            return tx.consolidation.neighbours(
                self.where.bank_id, self.where.scope_id, vectors, at_least, _DUPLICATES_PROBED
            )

    def judge(self, new: str, existing: str) -> Judgement:
        if self.ports.text_model is None or not self.has_time():
            return Judgement(is_same=False)
        self._renew()
        return ask_for_judgement(self.ports.text_model, self._caller, new, existing, self.usage.append)

    def defer(self, until: datetime, error: str, *, fails_after: int | None) -> None:
        """Puts the scope's due work off, and keeps what the failed calls cost."""
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.consolidation.defer(self.where.bank_id, self.lease, until, error, fails_after=fails_after)
            tx.usage.record(self._ledger())

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
            )
            tx.usage.record(self._ledger())

    @property
    def _caller(self) -> Caller:
        settings = self.ports.settings
        model = settings.hindsight_api_consolidation_llm_model or settings.hindsight_api_llm_model
        return Caller(model, str(self.where.tenant_id), self.bank.external_id)

    def _plan(self) -> Plan:
        facts = [row.fact for row in self.batch]
        if self.room == 0 and not self.observations:
            return Plan(capped=frozenset(fact.id for fact in facts))
        if self.ports.text_model is None:
            raise ModelUnavailable("no text model is configured")
        reply = ask_for_revision(
            self.ports.text_model,
            self._caller,
            self.policy,
            facts,
            self.observations,
            self.room,
            was_refused=any(row.was_refused_delete for row in self.batch),
            usage=self.usage.append,
        )
        return make_plan(reply, facts, self.observations, self.room)

    def _apply(self, plan: Plan, writes: Sequence[ObservationWrite]) -> None:
        verdicts, overlooked, asks_alone = self._verdicts(plan, writes)
        counts = Counter(verdict.outcome for verdict in verdicts) | Counter(refused=len(plan.refusals))
        application = Application(
            run=self._record("applied", counts),
            writes=tuple(writes),
            verdicts=tuple(verdicts),
            overlooked=tuple(overlooked),
            looks=2 if asks_alone else looks_after(len(self.batch), len(overlooked), self.batch_size),
            refused_delete=asks_alone,
            facts={row.fact.id: row.fact.version for row in self.batch},
        )
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.observations.apply(self.where.bank_id, self.lease, application)
            bank = tx.banks.by_id(self.where.bank_id)
            if bank is None or policy_of(resolve(self.ports.settings, bank.overrides), self.lease.tags) != self.policy:
                raise WorkSuperseded("the scope's policy changed while the model was asked")
            tx.usage.record(self._ledger())
            reached("consolidate.before_commit")

    def _verdicts(self, plan: Plan, writes: Sequence[ObservationWrite]) -> tuple[list[Verdict], list[UUID], bool]:
        """Outcome by fact, the work rows to ask about again, and whether that is because of a refused delete."""
        outcomes = _outcomes(writes)
        verdicts, overlooked = [], []
        is_alone = len(self.batch) == 1
        asks_alone = plan.refused_delete and not all(row.was_refused_delete for row in self.batch)
        for row in self.batch:
            if row.fact.id in outcomes:
                verdicts.append(Verdict(row.work_id, outcomes[row.fact.id]))
            elif row.fact.id in plan.capped:
                verdicts.append(Verdict(row.work_id, "capped"))
            elif row.fact.id in plan.skipped or (is_alone and not asks_alone):
                verdicts.append(Verdict(row.work_id, "not_durable"))
            else:
                overlooked.append(row.work_id)
        return verdicts, overlooked, asks_alone and bool(overlooked)

    def _discard(self) -> None:
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            tx.usage.record(self._ledger())
        self._renew()

    def _renew(self) -> None:
        """Extends the lease for another model call.  Raises: WorkSuperseded when it was lost."""
        seconds = self.ports.settings.hindsight_api_consolidation_lease_seconds
        with self.ports.store.transaction(self.where.tenant_id) as tx:
            is_ours = tx.consolidation.renew_lease(self.where.bank_id, self.lease, seconds)
        if not is_ours:
            raise WorkSuperseded("the scope's lease was taken over")

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
            strategy_index=self.policy.strategy_index,
            strategy_name=self.policy.strategy_name,
            prompt=prompt("consolidate").ref,
            model_id=self._caller.model,
            status=status,
            counts=dict(counts),
            started_at=self.started_at,
        )


def read_round(
    ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, has_time: Callable[[], bool]
) -> Round | None:
    """The next batch of the scope with what is shown beside it, or None when nothing is due.

    Raises: WorkSuperseded when the lease was lost or the bank is gone.
    """
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        seconds = ports.settings.hindsight_api_consolidation_lease_seconds
        if bank is None or not tx.consolidation.renew_lease(where.bank_id, lease, seconds):
            raise WorkSuperseded("the scope's lease was taken over, or its bank is gone")
        config = resolve(ports.settings, bank.overrides)
        size = max(1, config.consolidation_llm_batch_size)
        batch = choose(tx.consolidation.pending_facts(where.bank_id, where.scope_id, size * _READ_AHEAD), size)
        if not batch:
            return None
        policy = policy_of(config, lease.tags)
        per_fact = [row.fact.id for row in batch]
        related = tx.consolidation.related(where.bank_id, where.scope_id, per_fact, _RELATED_PER_FACT)
        candidates = list(dict.fromkeys(found for ranked in related for found in ranked))
        observations = {o.id: o for o in tx.consolidation.shown(where.bank_id, where.scope_id, candidates)}
        room = _room(policy, tx.consolidation.count_observations(where.bank_id, where.scope_id))
    tokens = {observation_id: count_tokens(o.text) for observation_id, o in observations.items()}
    chosen = pool(related, tokens, ports.settings.hindsight_api_consolidation_max_tokens)
    shown = _budgeted([observations[observation_id] for observation_id in chosen], policy)
    return Round(ports, where, lease, bank, policy, batch, shown, room, size, has_time)


def _room(policy: Policy, held: int) -> int | None:
    return None if policy.max_observations < 0 else max(0, policy.max_observations - held)


def _budgeted(observations: Sequence[ShownObservation], policy: Policy) -> list[ShownObservation]:
    return within(observations, policy.source_facts_max_tokens, policy.source_facts_max_tokens_per_observation)


def _outcomes(writes: Sequence[ObservationWrite]) -> dict[UUID, Outcome]:
    """What became of each fact that is evidence of something written."""
    found: dict[UUID, Outcome] = {}
    for write in writes:
        outcome: Outcome = "created" if write.is_new else "updated" if write.text is not None else "evidence"
        for piece in write.evidence:
            found[piece.fact_id] = "multiple" if piece.fact_id in found else outcome
    return found
