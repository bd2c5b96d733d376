"""Rows of consolidation made into what the round works with.  Called by store/consolidation.py; pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from uuid import UUID

from hindsight_aws.model.plan import ShownEvidence, ShownFact, ShownObservation
from hindsight_aws.ports.consolidation import PendingFact
from hindsight_aws.store.connection import Row


def pending_of(row: Row) -> PendingFact:
    """A due work row with its fact."""
    fact = ShownFact(
        id=row["id"],
        text=row["text"],
        version=row["version"],
        event_date=row["event_date"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
    )
    return PendingFact(
        row["work_id"], fact, row["looks"], row["attempts"], row["calls"], row["deferrals"], row["refused_delete"]
    )


def shown_of(row: Row, evidence: Sequence[ShownEvidence]) -> ShownObservation:
    """An observation as a model is shown it."""
    return ShownObservation(
        id=row["id"],
        text=row["text"],
        proof_count=row["proof_count"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
        evidence=tuple(evidence),
    )


def by_fact(rows: Sequence[Row]) -> dict[UUID, list[UUID]]:
    """Observations by the fact that they are related to, in the order of the rows."""
    found: dict[UUID, list[UUID]] = {}
    for row in rows:
        found.setdefault(row["fact_id"], []).append(row["observation_id"])
    return found


def in_turn(*rankings: Sequence[UUID]) -> list[UUID]:
    """All rankings, one from each in turn: an identical twin that tops one of them cannot be buried by another."""
    turns = (item for tier in zip_longest(*rankings) for item in tier if item is not None)
    return list(dict.fromkeys(turns))
