"""A consolidation plan as data: what one model reply will do to one scope, after it was checked against what was shown.

Pure nouns.  consolidate/check.py makes plans; store/observations.py carries them out, whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Origin = Literal["model", "whole"]


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A pending fact as the model saw it; `version` is compared again when the plan is applied."""

    id: UUID
    text: str
    version: int
    event_date: datetime | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """One source of a shown observation, within the token budget."""

    text: str
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShownObservation:
    """An observation of the exact scope as the model saw it."""

    id: UUID
    text: str
    proof_count: int
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    evidence: tuple[ShownEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that supports an observation, with an exact piece of its text.

    `origin` "model": the model gave the quote and it is a substring; "whole": the quote is the fact's whole text.
    """

    fact_id: UUID
    quote: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Create:
    """A new observation of the scope."""

    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """New wording and further evidence for a shown observation; `text` None adds evidence alone."""

    observation_id: UUID
    text: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """A shown observation that ends; its evidence moves to `into`, another shown one."""

    observation_id: UUID
    into: UUID


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action of the reply that was dropped, and why.

    The model is told when its facts are asked about again; refusals are counted.
    """

    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one reply does.

    Every fact of the batch is in exactly one of: evidence of an action, `capped`, `skipped`, `overlooked`.
    `is_full`: nothing new fitted in the scope, so that no fact was left out for what it says.
    """

    creates: tuple[Create, ...] = ()
    updates: tuple[Update, ...] = ()
    merges: tuple[Merge, ...] = ()
    skipped: frozenset[UUID] = frozenset()
    capped: frozenset[UUID] = frozenset()
    overlooked: frozenset[UUID] = frozenset()
    refusals: tuple[Refusal, ...] = ()
    refused_delete: bool = False
    is_full: bool = False
