"""The rows of consolidation: scopes with their leases, pending work, what a model is shown, and runs.

Called by consolidate/; kept by store/consolidation.py.  A scope is always one exact tag set: nothing here can reach
another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.model.ids import BankId, OperationId, ScopeId
from hindsight_aws.model.plan import ShownFact, ShownObservation


@dataclass(frozen=True, slots=True)
class ScopeLease:
    """A taken lease: while `fence` is the scope's, nobody else works on it.

    `rebuilds`: the scope is a shadow, in which the next generation of that one is made.  `compacts`: its
    near-duplicates are to be looked for.  `is_requested`: somebody had asked for its work when the lease was taken.
    """

    scope_id: UUID
    fence: int
    tags: tuple[str, ...]
    policy_hash: str | None
    rebuilds: UUID | None = None
    taken_at: datetime | None = None
    compacts: bool = False
    is_requested: bool = False

    @property
    def fact_type(self) -> str:
        """The type of the observations written in it: those of a shadow are seen by no reader."""
        return "observation" if self.rebuilds is None else "shadow"


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A due work row with its fact.

    `looks` counts answers that overlooked it, `attempts` those that were malformed or that nobody lived to hear, and
    `calls` all that were asked for since the row was last made pending anew.
    """

    work_id: UUID
    fact: ShownFact
    looks: int
    attempts: int
    calls: int
    deferrals: int
    was_refused_delete: bool


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An observation of the scope close to a text: `similarity` is their cosine."""

    observation_id: UUID
    text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One model call's provenance: what was asked, under which policy, and what came of it."""

    run_id: UUID
    scope_id: UUID
    fence: int
    policy_hash: str
    brief_hash: str
    strategy_index: int | None
    strategy_name: str
    prompt: str
    model_id: str
    status: Literal["applied", "discarded", "failed"]
    counts: Mapping[str, int]
    started_at: datetime

    @property
    def provenance(self) -> dict[str, object]:
        """What is stored on every row the run writes."""
        return {
            "strategy_index": self.strategy_index,
            "strategy_name": self.strategy_name,
            "policy_hash": self.policy_hash,
            "prompt": self.prompt,
            "model_id": self.model_id,
            "run_id": str(self.run_id),
        }


class Consolidation(Protocol):
    """The consolidation rows of one bank's scopes, in the transaction's tenant."""

    def take_lease(self, bank_id: BankId, scope_id: UUID, seconds: float) -> ScopeLease | None:
        """Takes the scope's lease; None when the scope is gone, or held: its holder is then told to look again."""
        ...

    def renew_lease(self, bank_id: BankId, lease: ScopeLease, seconds: float) -> bool:
        """Extends the lease and clears the wake-up mark; False when the fence has moved on."""
        ...

    def release_lease(
        self, bank_id: BankId, lease: ScopeLease, *, even_if_woken: bool = False, requested_only: bool = False
    ) -> bool:
        """Gives the lease back; False, and nothing is given back, when a wake-up came or due work remains.

        `requested_only`: only work that somebody asked for remains to be done.
        """
        ...

    def was_cancelled(self, bank_id: BankId, lease: ScopeLease) -> bool:
        """Whether a consolidation over the scope was cancelled under this lease and nobody else asks for its work."""
        ...

    def withdraw(self, bank_id: BankId, operation_ids: Sequence[OperationId]) -> None:
        """The work of these operations, which have ended, is no longer asked for, unless by others that are open."""
        ...

    def refuse_operations(self, bank_id: BankId, scope_id: UUID, error: str) -> None:
        """Ends the open consolidations over the scope as failed; their facts wait on."""
        ...

    def begin_call(self, bank_id: BankId, work_ids: Sequence[UUID]) -> None:
        """Counts a model call on these rows, and an attempt that came to nothing unless something else is noted later.

        To be committed before the call is made: a worker that dies of it leaves it counted.
        """
        ...

    def discard_answer(self, bank_id: BankId, work_ids: Sequence[UUID], error: str, *, most_calls: int) -> None:
        """Notes on these rows why an answer was discarded; one that has cost `most_calls` fails."""
        ...

    def give_up(self, bank_id: BankId, work_ids: Sequence[UUID], error: str) -> None:
        """Ends these rows as failed: they have cost as many calls as they may, and nobody said what was answered."""
        ...

    def pending_facts(
        self, bank_id: BankId, scope_id: UUID, at_most: int, *, requested_only: bool = False
    ) -> list[PendingFact]:
        """Due facts of the scope, oldest first; `requested_only`: those that somebody asked for."""
        ...

    def count_observations(self, bank_id: BankId, scope_id: UUID) -> int:
        """How many observations the exact scope holds."""
        ...

    def related(self, bank_id: BankId, scope_id: UUID, fact_ids: Sequence[UUID], per_fact: int) -> list[list[UUID]]:
        """For each fact, observations of the scope: nearest by vector and by words, taken in turn, each once."""
        ...

    def shown(self, bank_id: BankId, scope_id: UUID, ids: Sequence[UUID]) -> list[ShownObservation]:
        """These observations with all their evidence, newest evidence first; ids that are gone are left out."""
        ...

    def neighbours(
        self, bank_id: BankId, scope_id: UUID, vectors: Sequence[Sequence[float]], at_least: float, at_most: int
    ) -> list[list[Neighbour]]:
        """For each vector, the scope's closest observations of at least this cosine, closest first."""
        ...

    def record_failure(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        run: RunRecord,
        work_ids: Sequence[UUID],
        error: str,
        *,
        attempts: int,
        is_final: bool,
        most_calls: int,
    ) -> None:
        """Notes a malformed answer, and the attempts reached, on these rows.

        `is_final`, and having cost `most_calls`, ends them as failed, in this scope only.
        """
        ...

    def defer(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        until: datetime,
        error: str,
        *,
        fails_after: int | None,
        unheard: Sequence[UUID] = (),
    ) -> None:
        """Moves the scope's due work to `until`; rows deferred `fails_after` times fail (None: never).

        The call that was begun on the rows `unheard` did not come through, and counts for nothing.
        """
        ...

    def open_over(self, bank_id: BankId, scope_ids: Sequence[ScopeId] | None) -> OperationId | None:
        """The consolidation that is still open over exactly these scopes, in order, or (None) over the whole bank."""
        ...

    def request(
        self,
        bank_id: BankId,
        filters: Sequence[Sequence[str]] | None = None,
        *,
        covered_by: OperationId | None = None,
    ) -> list[ScopeId]:
        """Makes pending work due now and marks it asked for; returns its scopes.

        `filters`: only work whose scope, or whose fact's own tags, hold all tags of one of them; None: the whole bank.
        `covered_by`: only work of the scopes that this operation covers.
        """
        ...

    def recover(
        self,
        bank_id: BankId,
        filters: Sequence[Sequence[str]] | None = None,
        *,
        covered_by: OperationId | None = None,
    ) -> int:
        """Makes failed facts of the bank pending again, as if they had never failed nor been asked for; says how many.

        `filters` and `covered_by` as of `request`.
        """
        ...

    def revive(self, bank_id: BankId, scope_id: UUID) -> int:
        """Makes failed facts of the scope pending again whose next try is due; returns how many."""
        ...

    def finish_operations(self, bank_id: BankId) -> bool:
        """Ends the consolidation operations of the bank whose scopes have no pending work left.

        Whether a hook of the bank is to be told of one.
        """
        ...
