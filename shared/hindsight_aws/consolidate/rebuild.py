"""Rebuilds begun: by the sweep when a bank's settings changed, by a drain that meets an older mission, or by hand.

Called by jobs/sweep, the drain and the API; calls ports/rebuilds.  The work itself is drained as any scope's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.estimate import Estimate, estimate
from hindsight_aws.consolidate.policy import policies_of, server_policy
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.errors import Conflict
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.model.operation import POLICY_REBUILD, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.scope import Scope
from hindsight_aws.model.strategy import Policy
from hindsight_aws.operations.again import again
from hindsight_aws.ports.rebuilds import Opening, WrittenScope
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.settings import Settings

MOST_AT_ONCE: Final = 500
"""Scopes of one bank whose rebuild one sweep begins; the others come with the next."""
_PAGE: Final = 500
_NOBODY: Final = "policy"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A scope to rebuild, under which mission, and how many facts that will read (None: not counted yet)."""

    scope_id: ScopeId
    brief_hash: str
    facts: int | None


@dataclass(frozen=True, slots=True)
class Begun:
    """The operation that covers the rebuilds begun (None: there are none), and the shadows to wake."""

    operation_id: OperationId | None
    shadows: tuple[ScopeId, ...]


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """What a rebuild asked for by hand came to: the operation (None: nothing to begin), and what it will do.

    `already`: scopes whose rebuild was going on; `unknown`: tag sets that are no scope of the bank.
    """

    operation_id: OperationId | None
    estimate: Estimate
    already: tuple[tuple[str, ...], ...]
    unknown: tuple[tuple[str, ...], ...]


def begin(tx: Transaction, bank_id: BankId, wanted: Sequence[Wanted], *, subject: str | None) -> Begun:
    """Gives these scopes shadows under one operation; the caller wakes them.

    `subject` None: nobody asked.  Scopes that are being rebuilt already get none; without any there is no operation.
    """
    operation_id = OperationId(uuid4())
    in_order = sorted(wanted, key=lambda want: want.scope_id)
    openings = [Opening(want.scope_id, want.brief_hash) for want in in_order]
    made = tx.rebuilds.open(bank_id, openings, operation_id, is_forced=subject is not None)
    if not made:
        return Begun(None, ())
    payload: dict[str, object] = {
        "reason": "policy" if subject is None else "asked",
        "scope_ids": [str(scope_id) for scope_id in made],
        "facts": sum(_facts(tx, bank_id, want, made[want.scope_id]) for want in in_order if want.scope_id in made),
    }
    tx.operations.add(bank_id, [NewOperation(operation_id, POLICY_REBUILD, subject or _NOBODY, payload)])
    return Begun(operation_id, tuple(made.values()))


def tend_policy(store: Store, settings: Settings, tenant_id: TenantId, bank_id: BankId) -> Sequence[ScopeId]:
    """Looks through a bank's scopes after its settings, or the server's, changed; returns shadows to wake.

    Scopes whose observations were written under another mission are rebuilt, at most MOST_AT_ONCE; for others the
    change is noted, and facts that an older cap kept out are pending again where there is room.

    Guarantees: idempotent; a bank that could not be done with is found again by the next sweep.
    """
    with store.transaction(tenant_id) as tx:
        digest = tx.rebuilds.policy_digest(bank_id, server_policy(settings))
        bank = tx.banks.by_id(bank_id)
        if bank is None or digest is None:
            return ()
        policies = policies_of(resolve(settings, bank.overrides))
        found = [(scope, policies(scope.tags)) for scope in _scopes(tx, bank_id) if not scope.is_rebuilding]
        outdated = [pair for pair in found if pair[0].is_outdated(pair[1].brief_hash)]
        current = [pair for pair in found if _is_to_note(*pair)]
        ready = [_wanted(*pair) for pair in outdated if not pair[0].is_put_off]
        # It locks facts; what is noted next locks scopes, which come after them.
        begun = begin(tx, bank_id, ready[:MOST_AT_ONCE], subject=None)
        tx.rebuilds.accept(
            bank_id,
            {scope.scope_id: policy for scope, policy in current},
            [scope.scope_id for scope, policy in current if scope.capped and _has_room(scope, policy)],
        )
        if len(outdated) <= min(len(ready), MOST_AT_ONCE):
            tx.rebuilds.saw_policy(bank_id, digest)
    return begun.shadows


def rebuild(
    ports: ConsolidationPorts,
    principal: Principal,
    external_id: str,
    scopes: Sequence[Sequence[str]] | None,
    *,
    dry_run: bool,
) -> Rebuilding:
    """Makes the observations of these exact scopes (None: of all) anew from their facts, whatever their mission was.

    `dry_run` says what that would do, and neither writes nor asks a model.

    Guarantees: what is there is read until the new generation is whole.
    Raises: NotFound, AccessDenied; Conflict when the bank makes no observations; WorkRaced when others came in between
    each time.
    """
    require_bank(principal, external_id)
    require(principal, Permission.ADMIN)
    require_whole_bank(principal)
    asked = None if scopes is None else {Scope.of(tags).tags for tags in scopes}
    bank_id, shadows, done = again(lambda: _rebuild(ports, principal, external_id, asked, dry_run=dry_run))
    ports.wakeups.wake_scopes(principal.tenant_id, bank_id, shadows)
    return done


def _rebuild(
    ports: ConsolidationPorts,
    principal: Principal,
    external_id: str,
    asked: set[tuple[str, ...]] | None,
    *,
    dry_run: bool,
) -> tuple[BankId, Sequence[ScopeId], Rebuilding]:
    """The bank, the shadows to wake, and what the rebuild came to: what is written down in one transaction."""
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        config = resolve(ports.settings, bank.overrides)
        if not config.enable_observations:
            raise Conflict("enable_observations is off: this bank makes no observations")
        policies = policies_of(config)
        named = [scope for scope in _scopes(tx, bank.bank_id) if asked is None or scope.tags in asked]
        chosen = [(scope, policies(scope.tags)) for scope in named]
        fresh = [pair for pair in chosen if not pair[0].is_rebuilding]
        planned = estimate(fresh, tx.rebuilds.call_cost(bank.bank_id), config.consolidation_llm_batch_size)
        begun = Begun(None, ())
        if not dry_run:
            begun = begin(tx, bank.bank_id, [_wanted(*pair) for pair in chosen], subject=principal.subject)
    already = tuple(scope.tags for scope in named if scope.is_rebuilding)
    unknown = tuple(sorted((asked or set()) - {scope.tags for scope in named}))
    return bank.bank_id, begun.shadows, Rebuilding(begun.operation_id, planned, already, unknown)


def _scopes(tx: Transaction, bank_id: BankId) -> Iterator[WrittenScope]:
    after: UUID | None = None
    while page := tx.rebuilds.scopes(bank_id, after, _PAGE):
        yield from page
        after = page[-1].scope_id


def _facts(tx: Transaction, bank_id: BankId, want: Wanted, shadow_id: ScopeId) -> int:
    if want.facts is not None:
        return want.facts
    shadow = tx.rebuilds.shadow(bank_id, shadow_id)
    return 0 if shadow is None else shadow.pending


def _wanted(scope: WrittenScope, policy: Policy) -> Wanted:
    return Wanted(scope.scope_id, policy.brief_hash, scope.facts)


def _is_to_note(scope: WrittenScope, policy: Policy) -> bool:
    """Whether what is there may stand, under another policy than was noted."""
    is_written = scope.policy_hash is not None or scope.observations > 0
    return is_written and scope.policy_hash != policy.hash and not scope.is_outdated(policy.brief_hash)


def _has_room(scope: WrittenScope, policy: Policy) -> bool:
    return policy.max_observations < 0 or policy.max_observations > scope.observations
