"""Which generation of a scope a drain may work on, and how a finished one takes its scope's place.

Called by the round before it reads and by the drain when a shadow has nothing left; calls ports/rebuilds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.rebuild import Wanted, begin
from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.model.strategy import Policy
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.rebuilds import Ending, Shadow, Standing
from hindsight_aws.ports.store import Transaction

_WAITS = "waits for the scope's observations to be made anew under its present mission"
_NOTHING_DONE = "no fact of the scope could be consolidated: what was there stands"


@dataclass(frozen=True, slots=True)
class Aside:
    """There is nothing to do here now: what there is to do is in the scopes `woken`, if any, or comes later."""

    woken: tuple[ScopeId, ...] = ()


class Concluded(Enum):
    """What became of a shadow without due work."""

    ENDED = "its observations are the scope's now, or it came to nothing"
    WAITING = "facts are to be tried again later"
    AGAIN = "facts or the mission changed: there is work again"


def lock_for_turn(tx: Transaction, where: ScopeAddress, lease: ScopeLease, policy: Policy) -> None:
    """Locks what `take_turn` may need, before the scope whose lease is renewed: facts, and the other generation."""
    if lease.rebuilds is not None:
        tx.rebuilds.keep_new_facts(where.bank_id, where.scope_id)
        tx.rebuilds.lock(where.bank_id, where.scope_id)
        return
    standing = tx.rebuilds.standing(where.bank_id, where.scope_id)
    if standing is not None and _begins(standing, policy):
        tx.rebuilds.keep_facts(where.bank_id, [ScopeId(where.scope_id)])


def take_turn(tx: Transaction, where: ScopeAddress, lease: ScopeLease, policy: Policy) -> Aside | None:
    """Lets a drain work on the scope under this policy (None), or says where the work is.

    A scope whose observations were written under another mission is not written to: its facts are consolidated in its
    shadow, which is begun here if need be.  A shadow is brought up to its scope's facts, and emptied when the mission
    changed again.
    Raises: WorkSuperseded when the scope is gone.
    """
    if lease.rebuilds is not None:
        return _turn_of_shadow(tx, where, policy)
    standing = tx.rebuilds.standing(where.bank_id, where.scope_id)
    if standing is None:
        raise WorkSuperseded("the scope is gone")
    shadow_id = standing.shadow_id
    if shadow_id is None and not standing.is_outdated(policy.brief_hash):
        return None
    if shadow_id is None and standing.waits_until is not None:
        tx.consolidation.defer(where.bank_id, lease, standing.waits_until, _WAITS, fails_after=None)
        return Aside()
    if shadow_id is None:
        wanted = Wanted(ScopeId(where.scope_id), policy.brief_hash, None)
        return Aside(begin(tx, where.bank_id, [wanted], subject=None).shadows)
    # New facts are taken over by the shadow's own worker only: this one holds the scope, for which whoever swaps the
    # shadow waits with the same work in hand.
    return Aside((shadow_id,))


def conclude(ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease) -> Concluded:
    """Ends a shadow in which nothing is due, if nothing will be: its observations take the place of its scope's.

    Facts that failed are tried again first.  When they fail for good, the generation takes its place without them,
    unless none came through: then what was there stands, and another rebuild begins later.

    Guarantees: readers see all of one generation; what the former one said is gone with it, cached answers included.
    """
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        shadow = tx.rebuilds.shadow(where.bank_id, where.scope_id)
        if bank is None or shadow is None:
            raise WorkSuperseded("the shadow is gone")
        policy = policy_of(resolve(ports.settings, bank.overrides), lease.tags)
        if policy.brief_hash != shadow.brief_hash:
            return Concluded.AGAIN
        if shadow.pending or shadow.revivable:
            return Concluded.WAITING
        if shadow.failed and not shadow.done:
            ending = Ending({"memories_failed": shadow.failed}, _NOTHING_DONE)
            tx.rebuilds.drop(where.bank_id, where.scope_id, ending, brief_hash=None)
        elif not _is_swapped(ports, tx, where, lease, policy):
            return Concluded.AGAIN
        tx.rebuilds.finish(where.bank_id)
        reached("consolidate.before_swap_commit")
    # Operations are locked before work: whoever cancels one locked it before it comes to the work that is swapped here.
    with ports.store.transaction(where.tenant_id) as tx:
        is_heard = tx.consolidation.finish_operations(where.bank_id)
    if is_heard:
        ports.wakeups.wake_webhooks(where.tenant_id, where.bank_id)
    ports.wakeups.wake_scopes(where.tenant_id, where.bank_id, [shadow.rebuilds])
    return Concluded.ENDED


def _is_swapped(
    ports: ConsolidationPorts, tx: Transaction, where: ScopeAddress, lease: ScopeLease, policy: Policy
) -> bool:
    days = ports.settings.hindsight_api_sealed_retention_days
    if not tx.rebuilds.swap(where.bank_id, lease, policy.hash, days):
        return False
    mark_written(tx, where.bank_id)
    return True


def _turn_of_shadow(tx: Transaction, where: ScopeAddress, policy: Policy) -> Aside | None:
    shadow = tx.rebuilds.shadow(where.bank_id, where.scope_id)
    if shadow is None:
        raise WorkSuperseded("the rebuild has ended")
    if shadow.is_cancelled or _is_pointless(shadow, policy):
        tx.rebuilds.drop(where.bank_id, where.scope_id, Ending(), brief_hash=policy.brief_hash)
        tx.rebuilds.finish(where.bank_id)
        return Aside((shadow.rebuilds,))
    if shadow.brief_hash != policy.brief_hash:
        tx.rebuilds.restart(where.bank_id, where.scope_id, policy.brief_hash)
    else:
        tx.rebuilds.adopt(where.bank_id, where.scope_id)
    tx.rebuilds.note_progress(where.bank_id, where.scope_id)
    return None


def _begins(standing: Standing, policy: Policy) -> bool:
    """Whether the scope is to be rebuilt now, and is not yet."""
    return standing.shadow_id is None and standing.waits_until is None and standing.is_outdated(policy.brief_hash)


def _is_pointless(shadow: Shadow, policy: Policy) -> bool:
    """Whether the mission is again the one that what is there was written under, and nobody asked."""
    return not shadow.is_forced and shadow.original_brief == policy.brief_hash
