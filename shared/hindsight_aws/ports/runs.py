"""Consolidation runs: what each model call did, to look at and to undo.  Kept by store/runs.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, RunId, ScopeId
from hindsight_aws.model.plan import Evidence
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Which runs to list; None asks nothing.  `tags`: of the exact scope, sorted."""

    tags: tuple[str, ...] | None = None
    status: str | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it is shown.  `is_sealed`: what it wrote was replaced by a rebuild, and cannot be brought back."""

    run_id: RunId
    tags: tuple[str, ...]
    status: str
    counts: Mapping[str, int]
    policy_hash: str
    strategy_index: int | None
    strategy_name: str | None
    prompt: str
    model_id: str
    started_at: datetime
    finished_at: datetime
    reverted_at: datetime | None
    is_sealed: bool


@dataclass(frozen=True, slots=True)
class Former:
    """An observation as it was before a run; `created_by` and `last_by` are its provenance then."""

    text: str
    evidence: tuple[Evidence, ...]
    created_by: Mapping[str, object]
    last_by: Mapping[str, object]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Touched:
    """An observation that a run made, changed or ended.

    `former` None: the run made it.  `is_there`: it is there now.  `version`: its latest revision, to be compared again.
    `later_runs` changed it since, oldest first; `is_changed_otherwise`: facts that it rested on changed or went.
    """

    observation_id: UUID
    former: Former | None
    is_there: bool
    is_blanked: bool
    version: int
    later_runs: tuple[RunId, ...]
    is_changed_otherwise: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run left: in which scope, and the observations it touched; `twins`: others that say what would come back.

    A twin stands with the run that last changed it.
    """

    scope_id: ScopeId
    status: str
    is_sealed: bool
    is_reverted: bool
    is_rebuilding: bool
    touched: tuple[Touched, ...]
    twins: tuple[RunId, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """An observation to be put back as it was, with its vector and index terms."""

    observation_id: UUID
    former: Former
    is_there: bool
    embedding: Sequence[float] | None
    terms: Mapping[str, int]


class Runs(Protocol):
    """The consolidation runs of the transaction's tenant."""

    def page(self, bank_id: BankId, sight: Sight, query: RunQuery) -> Page[RunView]:
        """Runs of scopes in sight, newest first; those of a generation in the making are not shown."""
        ...

    def trace(self, bank_id: BankId, run_id: RunId) -> Trace | None:
        """What a run left, or None when there is no such run."""
        ...

    def undo(
        self,
        bank_id: BankId,
        lease: ScopeLease,
        run_id: RunId,
        expected: Trace,
        restored: Sequence[Restored],
        *,
        retry: bool,
    ) -> int:
        """Removes what the run made, puts back what it changed or ended, and opens its facts again; how many.

        They wait until somebody asks for consolidation, or with `retry` are due at once.
        Guarantees: locks in the global order; every change leaves a revision.
        Raises: WorkSuperseded when the fence moved or the trace is no longer as expected; nothing is written then.
        """
        ...
