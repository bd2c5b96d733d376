"""Rebuilds: the next generation of a scope's observations, made in its shadow and put in place at once.

Called by consolidate/ and the sweep; kept by store/rebuilds.py.  A shadow is a scope of its own with the same tags; its
observations are of a type that no reader asks for, and its work is drained as any scope's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.consolidation import ScopeLease


@dataclass(frozen=True, slots=True)
class Standing:
    """How a scope stands to its mission.

    `brief_hash` is that of what is there (None: unknown), `shadow_id` its shadow while it is rebuilt; `waits_until`: a
    rebuild came to nothing, and is not begun again before then.
    """

    brief_hash: str | None
    has_observations: bool
    shadow_id: ScopeId | None
    waits_until: datetime | None

    def is_outdated(self, brief_hash: str) -> bool:
        """Whether what is there was written under another mission than this one."""
        return self.has_observations and self.brief_hash not in (None, brief_hash)


@dataclass(frozen=True, slots=True)
class Shadow:
    """How a rebuild stands: the scope it is of, the mission it is written under, and its facts by state.

    `revivable`: failed facts that will be tried again.  `original_brief`: the mission of what is there now.
    """

    rebuilds: ScopeId
    brief_hash: str
    original_brief: str | None
    is_forced: bool
    is_cancelled: bool
    pending: int
    failed: int
    revivable: int
    done: int


@dataclass(frozen=True, slots=True)
class WrittenScope:
    """A scope that a rebuild may be asked of.

    `capped`: facts that found no room.  `facts`: all that a rebuild would read again.  `is_put_off`: one came to
    nothing, and the next begins by itself only later.
    """

    scope_id: ScopeId
    tags: tuple[str, ...]
    brief_hash: str | None
    policy_hash: str | None
    observations: int
    facts: int
    capped: int
    is_rebuilding: bool
    is_put_off: bool

    def is_outdated(self, brief_hash: str) -> bool:
        """Whether what is there was written under another mission than this one."""
        return self.observations > 0 and self.brief_hash not in (None, brief_hash)


@dataclass(frozen=True, slots=True)
class Opening:
    """A rebuild to begin: of which scope, under which mission."""

    scope_id: ScopeId
    brief_hash: str


@dataclass(frozen=True, slots=True)
class CallCost:
    """What one consolidation call of the bank cost lately, on average; None where nothing is known."""

    usd: Decimal | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a shadow ended: what is added to the result of its operation, and what went wrong, if anything."""

    counts: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None


class Rebuilds(Protocol):
    """The rebuilds of the transaction's tenant."""

    def standing(self, bank_id: BankId, scope_id: UUID) -> Standing | None:
        """How a scope stands, or None when it is gone."""
        ...

    def shadow(self, bank_id: BankId, shadow_id: UUID) -> Shadow | None:
        """How a rebuild stands, or None when it has ended."""
        ...

    def scopes(self, bank_id: BankId, after: UUID | None, at_most: int) -> list[WrittenScope]:
        """Scopes with work or observations, in order of their ids, from behind `after`; shadows are none."""
        ...

    def keep_facts(self, bank_id: BankId, scope_ids: Sequence[ScopeId]) -> None:
        """Keeps all facts of these scopes from going, for who is to give them shadows and locks one first."""
        ...

    def keep_new_facts(self, bank_id: BankId, shadow_id: UUID) -> None:
        """Keeps the facts that the shadow is to take over from going, for who is to adopt them and locks it first."""
        ...

    def lock(self, bank_id: BankId, shadow_id: UUID) -> None:
        """Locks a shadow and the scope that it rebuilds, in id order, for who may come to end it."""
        ...

    def open(
        self, bank_id: BankId, openings: Sequence[Opening], operation_id: OperationId, *, is_forced: bool
    ) -> dict[ScopeId, ScopeId]:
        """Gives these scopes shadows, with pending work for each of their facts; returns the shadows made, by scope.

        A scope that has a shadow is left as it is, or with `is_forced` told that somebody asked.
        """
        ...

    def adopt(self, bank_id: BankId, shadow_id: UUID) -> int:
        """Brings the shadow's work up to its scope's: new and changed facts are pending in it, those that left go.

        Returns how many are pending that were not.
        """
        ...

    def restart(self, bank_id: BankId, shadow_id: UUID, brief_hash: str) -> None:
        """Empties a shadow whose mission changed meanwhile, and brings it up to its scope; all facts are pending."""
        ...

    def drop(self, bank_id: BankId, shadow_id: UUID, ending: Ending, *, brief_hash: str | None) -> None:
        """Ends a rebuild without effect.

        `brief_hash` set: what is there counts as written under that mission from now on; None: another rebuild may
        begin later, the longer after the more came to nothing.
        """
        ...

    def drop_all(self, bank_id: BankId, scope_id: ScopeId | None = None) -> None:
        """Ends the rebuilds of the bank, or of one scope, without effect, before observations are cleared."""
        ...

    def swap(self, bank_id: BankId, lease: ScopeLease, policy_hash: str, sealed_days: int) -> bool:
        """Puts the shadow's observations in the place of the scope's, whose former ones are sealed.

        False, and nothing is changed, when facts came or changed since: they are pending in the shadow.
        Guarantees: readers see the whole of one generation; an answer that was asked for before is refused.
        Raises: WorkSuperseded when the shadow's fence moved.
        """
        ...

    def note_progress(self, bank_id: BankId, shadow_id: UUID) -> None:
        """Notes on the operation of a shadow how far it is."""
        ...

    def finish(self, bank_id: BankId) -> None:
        """Ends the rebuild operations of the bank that have no shadow left."""
        ...

    def accept(self, bank_id: BankId, policies: Mapping[ScopeId, Policy], with_room: Sequence[ScopeId]) -> int:
        """Notes the policies that scopes are under now, where what is there may stand.

        Facts of scopes `with_room` that a cap kept out are pending again; returns how many.
        """
        ...

    def policy_digest(self, bank_id: BankId, server_policy: str) -> str | None:
        """A digest of the bank's settings and the server's, to be read before them; None: there is no bank."""
        ...

    def saw_policy(self, bank_id: BankId, digest: str) -> None:
        """Notes that the bank's scopes were looked through under the settings of this digest."""
        ...

    def call_cost(self, bank_id: BankId) -> CallCost:
        """What consolidation calls of this bank cost lately."""
        ...

    def delete_seals(self, bank_id: BankId) -> int:
        """Deletes sealed generations whose days are over; how many."""
        ...
