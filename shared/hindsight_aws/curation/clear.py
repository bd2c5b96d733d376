"""Clears what a bank remembers: all, one type, its observations, those of one scope, or what rests on one fact.

Called by the API.  Large banks are cleared a slice per transaction: what is done stays done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from hindsight_aws.access import bank_not_found, require, require_whole_bank, sees_bank, sight
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.settle import wake
from hindsight_aws.curation.sight import known, may_correct, until_settled
from hindsight_aws.errors import NotFound
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.principal import FACT_TYPES, Permission, Principal
from hindsight_aws.model.scope import Scope
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.curation import Cleared
from hindsight_aws.ports.store import Transaction

SLICE: Final = 500


def clear_memories(ports: CurationPorts, principal: Principal, bank: str, fact_type: str | None) -> int:
    """Deletes the bank's memories, or those of one type, archived ones too; returns how many live ones there were.

    The bank, its settings and its documents stay; a document whose facts went makes facts again when it is retained
    again.  Observations end with any of their facts; cleared as a type of their own they leave their facts as they are.
    A bank that is not there, and a type that is none, have nothing to clear.

    Raises: AccessDenied for a key that sees part of a bank.
    """
    require(principal, Permission.WRITE)
    require_whole_bank(principal)
    found = _bank(ports, principal, bank)
    types = FACT_TYPES if fact_type is None else FACT_TYPES & {fact_type}
    if found is None or not types:
        return 0
    raw = sorted(types - {"observation"})
    gone = 0
    if "observation" in types:
        _end_generations(ports, principal, found)
        gone += _slices(
            ports, principal, found, lambda tx: tx.curation.clear_observations(found.bank_id, SLICE, reopen=False)
        )
    if raw:
        gone += _slices(ports, principal, found, lambda tx: tx.curation.clear_facts(found.bank_id, raw, SLICE))
        with ports.store.transaction(principal.tenant_id) as tx:
            tx.curation.clear_archive(found.bank_id, raw)
            mark_written(tx, found.bank_id)
    return gone


def clear_observations(ports: CurationPorts, principal: Principal, bank: str) -> int:
    """Deletes the bank's observations, so that consolidation starts anew from every fact; returns how many.

    Starts no consolidation by itself.  Raises: AccessDenied for a key that sees part of a bank.
    """
    require(principal, Permission.WRITE)
    require_whole_bank(principal)
    found = _bank(ports, principal, bank)
    if found is None:
        return 0
    _end_generations(ports, principal, found)
    gone = _slices(
        ports, principal, found, lambda tx: tx.curation.clear_observations(found.bank_id, SLICE, reopen=True)
    )
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.curation.reopen_all(found.bank_id)
        mark_written(tx, found.bank_id)
    return gone


def clear_scope(ports: CurationPorts, principal: Principal, bank: str, tags: Sequence[str]) -> int:
    """Deletes the observations of one exact scope, whose facts wait in it again, failed ones too; returns how many.

    No other scope is touched, narrower and wider ones included.  Starts no consolidation by itself.  A scope that is
    not there, or not for this caller, has nothing to clear.

    Raises: AccessDenied for a key that may not write, or may not see what it changes.
    """
    may_correct(principal)
    scope = Scope.of(tags)
    found = _bank(ports, principal, bank)
    if found is None or not sight(principal).sees("observation", scope.tags):
        return 0
    with ports.store.transaction(principal.tenant_id) as tx:
        ids = tx.scopes.ids(found.bank_id, [scope])
    if not ids:
        return 0
    _end_generations(ports, principal, found, ids[0])
    gone = _slices(
        ports,
        principal,
        found,
        lambda tx: tx.curation.clear_observations(found.bank_id, SLICE, reopen=True, scope_id=ids[0]),
    )
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.curation.reopen_all(found.bank_id, ids[0])
        mark_written(tx, found.bank_id)
    return gone


def clear_observations_of(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> int:
    """Deletes what rests on one fact, which waits for consolidation again; returns how many observations went.

    Nothing rests on a memory that is not there, or not for this caller, on an archived one, or on an observation.

    Raises: NotFound for the bank; AccessDenied; Conflict when others keep changing the fact.
    """
    may_correct(principal)
    if _bank(ports, principal, bank) is None:
        raise bank_not_found(bank)
    return until_settled(lambda: _clear_observations_of(ports, principal, bank, memory_id))


def _clear_observations_of(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> int:
    with ports.store.transaction(principal.tenant_id) as tx:
        try:
            seen = known(tx, ports, principal, bank, memory_id)
        except NotFound:
            return 0
        if seen.fact.fact_type == "observation" or seen.fact.state == "invalidated":
            return 0
        gone, scopes = tx.curation.clear_observations_of(seen.bank.bank_id, seen.fact)
        mark_written(tx, seen.bank.bank_id)
    wake(ports, principal.tenant_id, seen.bank, scopes)
    return gone


def _end_generations(ports: CurationPorts, principal: Principal, bank: Bank, scope_id: ScopeId | None = None) -> None:
    """What is cleared shall neither come back from a generation in the making nor stay in a sealed one."""
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.rebuilds.drop_all(bank.bank_id, scope_id)
        tx.curation.clear_seals(bank.bank_id, scope_id)


def _bank(ports: CurationPorts, principal: Principal, bank: str) -> Bank | None:
    if not sees_bank(principal, bank):
        return None
    with ports.store.transaction(principal.tenant_id) as tx:
        return tx.banks.find(bank)


def _slices(ports: CurationPorts, principal: Principal, bank: Bank, clear: Callable[[Transaction], Cleared]) -> int:
    """Clears slice by slice until nothing is left."""
    gone = 0
    reopened: dict[ScopeId, None] = {}
    while (cleared := until_settled(lambda: _slice(ports, principal, bank, clear))).memories:
        gone += cleared.memories
        reopened |= dict.fromkeys(cleared.reopened)
    if gone:
        wake(ports, principal.tenant_id, bank, list(reopened))
    return gone


def _slice(ports: CurationPorts, principal: Principal, bank: Bank, clear: Callable[[Transaction], Cleared]) -> Cleared:
    with ports.store.transaction(principal.tenant_id) as tx:
        cleared = clear(tx)
        if cleared.memories:
            mark_written(tx, bank.bank_id)
        return cleared
