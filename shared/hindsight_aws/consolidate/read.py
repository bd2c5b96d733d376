"""What the next round of a drain is about: a batch of due facts, and what is believed already beside it.

Called by the drain; calls the store, batch and budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.batch import choose
from hindsight_aws.consolidate.budget import pool, within
from hindsight_aws.consolidate.generation import Aside, lock_for_turn, take_turn
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.round import Round, only_requested
from hindsight_aws.errors import WorkCancelled, WorkSuperseded
from hindsight_aws.model.plan import ShownObservation
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.consolidation import PendingFact, ScopeLease
from hindsight_aws.ports.store import Transaction
from hindsight_aws.text.tokens import count_tokens

_RELATED_PER_FACT = 20
_READ_AHEAD = 4
_GIVEN_UP = "given up after {} model calls: whoever asked last never said what was answered"


def read_round(
    ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, has_time: Callable[[], bool]
) -> Round | Aside | None:
    """The next batch of the scope with what is shown beside it; None: nothing is due; Aside: the work is elsewhere.

    Where nothing runs by itself only work that somebody asked for is due, and what comes while it is done.

    Raises: WorkSuperseded when the lease was lost or the bank is gone; WorkCancelled when the work was cancelled.
    """
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        if bank is None:
            raise WorkSuperseded("the bank is gone")
        config = resolve(ports.settings, bank.overrides)
        policy = policy_of(config, lease.tags)
        lock_for_turn(tx, where, lease, policy)
        if not tx.consolidation.renew_lease(
            where.bank_id, lease, ports.settings.hindsight_api_consolidation_lease_seconds
        ):
            raise WorkSuperseded("the scope's lease was taken over")
        by_request = only_requested(config, lease)
        if by_request and not tx.consolidation.pending_facts(where.bank_id, where.scope_id, 1, requested_only=True):
            return None
        aside = take_turn(tx, where, lease, policy)
        if aside is not None:
            return aside
        size = max(1, config.consolidation_llm_batch_size)
        batch, spent = _due(ports, tx, where, size, requested_only=by_request)
        if batch and tx.consolidation.was_cancelled(where.bank_id, lease):
            raise WorkCancelled("the consolidation was cancelled")
        beside = _beside(tx, where, batch)
        room = _room(tx, where, policy)
    _give_up(ports, where, spent)
    if not batch:
        return None
    shown = beside.shown(ports.settings.hindsight_api_consolidation_max_tokens, policy)
    return Round(ports, where, lease, bank, policy, batch, shown, room, size, has_time)


def _due(
    ports: ConsolidationPorts, tx: Transaction, where: ScopeAddress, size: int, *, requested_only: bool
) -> tuple[list[PendingFact], list[UUID]]:
    """The facts to ask about next, and the work of those that were asked about as often as they may be."""
    due = tx.consolidation.pending_facts(
        where.bank_id, where.scope_id, size * _READ_AHEAD, requested_only=requested_only
    )
    spent = [row.work_id for row in due if row.calls >= ports.settings.hindsight_consolidation_max_calls]
    return choose([row for row in due if row.work_id not in spent], size), spent


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is believed already: the observations near each fact of the batch, best first."""

    related: Sequence[Sequence[UUID]]
    observations: Mapping[UUID, ShownObservation]

    def shown(self, per_fact: int, policy: Policy) -> list[ShownObservation]:
        """Those that fit `per_fact` tokens for each fact, with the sources that the policy has room for."""
        tokens = {observation_id: count_tokens(o.text) for observation_id, o in self.observations.items()}
        chosen = [self.observations[observation_id] for observation_id in pool(self.related, tokens, per_fact)]
        return within(chosen, policy.source_facts_max_tokens, policy.source_facts_max_tokens_per_observation)


def _beside(tx: Transaction, where: ScopeAddress, batch: Sequence[PendingFact]) -> _Beside:
    facts = [row.fact.id for row in batch]
    related = tx.consolidation.related(where.bank_id, where.scope_id, facts, _RELATED_PER_FACT)
    candidates = list(dict.fromkeys(found for ranked in related for found in ranked))
    return _Beside(related, {o.id: o for o in tx.consolidation.shown(where.bank_id, where.scope_id, candidates)})


def _give_up(ports: ConsolidationPorts, where: ScopeAddress, spent: Sequence[UUID]) -> None:
    """Fails the facts whose workers never came back, as often as they may be asked about.

    Not in one transaction with a shadow's turn, which comes to its operation after the work that it locks.
    """
    if spent:
        error = _GIVEN_UP.format(ports.settings.hindsight_consolidation_max_calls)
        with ports.store.transaction(where.tenant_id) as tx:
            tx.consolidation.give_up(where.bank_id, spent, error)


def _room(tx: Transaction, where: ScopeAddress, policy: Policy) -> int | None:
    """How many more observations fit; None without a bound.  Counts only where the number matters."""
    if policy.max_observations <= 0:
        return None if policy.max_observations < 0 else 0
    return max(0, policy.max_observations - tx.consolidation.count_observations(where.bank_id, where.scope_id))
