"""What the next round of a drain is about: a batch of due facts, and what is believed already beside it.

Called by the drain; calls the store, batch and budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hindsight_aws.banks.config import resolve
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
        due = tx.consolidation.pending_facts(
            where.bank_id, where.scope_id, size * _READ_AHEAD, requested_only=by_request
        )
        batch = choose(_affordable(tx, where, due, ports.settings.hindsight_consolidation_max_calls), size)
        if not batch:
            return None
        if tx.consolidation.was_cancelled(where.bank_id, lease):
            raise WorkCancelled("the consolidation was cancelled")
        per_fact = [row.fact.id for row in batch]
        related = tx.consolidation.related(where.bank_id, where.scope_id, per_fact, _RELATED_PER_FACT)
        candidates = list(dict.fromkeys(found for ranked in related for found in ranked))
        observations = {o.id: o for o in tx.consolidation.shown(where.bank_id, where.scope_id, candidates)}
        room = _room(tx, where, policy)
    tokens = {observation_id: count_tokens(o.text) for observation_id, o in observations.items()}
    chosen = pool(related, tokens, ports.settings.hindsight_api_consolidation_max_tokens)
    shown = _budgeted([observations[observation_id] for observation_id in chosen], policy)
    return Round(ports, where, lease, bank, policy, batch, shown, room, size, has_time)


def _affordable(tx: Transaction, where: ScopeAddress, due: Sequence[PendingFact], most: int) -> list[PendingFact]:
    """The facts that may be asked about once more; the others, whose workers never came back, fail."""
    spent = [row.work_id for row in due if row.calls >= most]
    if spent:
        tx.consolidation.give_up(where.bank_id, spent, _GIVEN_UP.format(most))
    return [row for row in due if row.calls < most]


def _room(tx: Transaction, where: ScopeAddress, policy: Policy) -> int | None:
    """How many more observations fit; None without a bound.  Counts only where the number matters."""
    if policy.max_observations <= 0:
        return None if policy.max_observations < 0 else 0
    return max(0, policy.max_observations - tx.consolidation.count_observations(where.bank_id, where.scope_id))


def _budgeted(observations: Sequence[ShownObservation], policy: Policy) -> list[ShownObservation]:
    return within(observations, policy.source_facts_max_tokens, policy.source_facts_max_tokens_per_observation)
