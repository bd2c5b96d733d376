"""Observations: an applied plan written as a whole, their end when a fact goes, and their history to look at.

Called by consolidate/ and by whoever removes or changes facts; kept by store/observations.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, ScopeId
from hindsight_aws.model.plan import Evidence
from hindsight_aws.ports.consolidation import RunRecord, ScopeLease
from hindsight_aws.ports.memories import EvidenceView

Outcome = Literal["created", "updated", "evidence", "merged", "multiple", "capped", "not_durable"]


@dataclass(frozen=True, slots=True)
class ObservationWrite:
    """An observation as it shall be: a new row, a rewrite (`text` set) or evidence alone (`text` None)."""

    observation_id: UUID
    text: str | None
    embedding: Sequence[float] | None
    terms: Mapping[str, int]
    evidence: tuple[Evidence, ...]
    is_new: bool
    absorbs: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one fact in this scope."""

    work_id: UUID
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Application:
    """All that one applied plan writes, in one transaction.

    Facts in `overlooked` are asked about again with `looks` noted, unless they have cost `most_calls` by now.
    """

    run: RunRecord
    writes: tuple[ObservationWrite, ...]
    verdicts: tuple[Verdict, ...]
    overlooked: tuple[UUID, ...]
    looks: int = 1
    refused_delete: bool = False
    most_calls: int = 16
    facts: Mapping[UUID, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RevisionView:
    """An observation as one change left it; `text` None where what it rested on was deleted.

    `sources` are the facts it rested on then: those of them that are still there and in sight.
    """

    kind: str
    text: str | None
    tags: tuple[str, ...]
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    changed_at: datetime
    added: tuple[UUID, ...]
    source_ids: tuple[UUID, ...]
    sources: Mapping[UUID, EvidenceView]
    merged_into: UUID | None
    provenance: Mapping[str, object]


class Observations(Protocol):
    """The observations of the transaction's tenant."""

    def apply(self, bank_id: BankId, lease: ScopeLease, application: Application) -> None:
        """Writes it all, after locking facts and scope in the global order.

        Raises: WorkSuperseded when the fence moved, a fact of the batch changed or went, or an observation it rewrites
        is gone; nothing is written then.
        """
        ...

    def sweep(
        self, bank_id: BankId, fact_ids: Sequence[UUID], scope_ids: Sequence[ScopeId] | None = None
    ) -> list[ScopeId]:
        """Before facts leave or change: ends every observation that rests on one, and blanks its revisions.

        Before facts leave single scopes: each the one beside it in `scope_ids`, which is as long.  The other sources of
        an observation that ends are pending again in its scope.  Returns the scopes in which such others wait.
        """
        ...

    def revisions(self, bank_id: BankId, sight: Sight, observation_id: UUID) -> Sequence[RevisionView]:
        """Every change of an observation, oldest first."""
        ...
