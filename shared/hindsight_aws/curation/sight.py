"""Finds the memory somebody wants to correct, as far as they may; and repeats what another's write came in between.

Called by the use cases of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from hindsight_aws.access import require, require_scopes, sees_bank, sight
from hindsight_aws.configuration.config import resolve
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.errors import NotFound, WorkRaced, WorkSuperseded
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.scope import Scope, resolve_scopes
from hindsight_aws.operations.again import again
from hindsight_aws.ports.curation import FactAsKnown
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.intake.accepted import scopes_from_json

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Known:
    """A memory in the caller's sight, with its bank and the scopes it is consolidated in."""

    bank: Bank
    fact: FactAsKnown
    scopes: tuple[Scope, ...]


def may_correct(principal: Principal) -> None:
    """Lets those pass who may write, and may see what they change.  Raises AccessDenied."""
    require(principal, Permission.WRITE)
    require(principal, Permission.READ)


def known(tx: Transaction, ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID) -> Known:
    """The memory as it is now.

    Raises: NotFound for one that is not there, or not for this caller; AccessDenied when what rests on it in one of its
    scopes would be out of the caller's sight.
    """
    absent = NotFound(f"Memory unit '{memory_id}' not found")
    found = tx.banks.find(bank) if sees_bank(principal, bank) else None
    if found is None or tx.memories.view(found.bank_id, sight(principal), memory_id) is None:
        raise absent
    fact = tx.curation.look(found.bank_id, memory_id)
    if fact is None:
        raise absent
    scopes: tuple[Scope, ...] = ()
    if fact.fact_type != "observation":
        volatile = resolve(ports.settings, found.overrides).volatile_tags
        scopes = resolve_scopes(fact.tags, scopes_from_json(fact.observation_scopes), volatile)
        require_scopes(principal, [scope.tags for scope in scopes])
    return Known(found, fact, scopes)


def until_settled(attempt: Callable[[], Done]) -> Done:
    """What the attempt gives, which starts from the rows as they are each time.

    Raises: Conflict when it never gets through; VectorsReplaced, at once, while the bank's vectors are being replaced.
    """
    return again(
        attempt,
        passing=(WorkSuperseded, WorkRaced),
        refusal="The memory is being changed by somebody else; nothing was changed, try again",
    )
