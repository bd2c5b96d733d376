"""What became of each fact of a batch, and what a run did in numbers.  Pure; called by the round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hindsight_aws.model.plan import Plan
from hindsight_aws.ports.consolidation import PendingFact
from hindsight_aws.ports.observations import ObservationWrite, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Settled:
    """Which work rows are done, and how; which are asked about again: `asks_alone` when a delete of theirs was refused.

    Every fact of the batch is in one of both.
    """

    verdicts: tuple[Verdict, ...]
    overlooked: tuple[UUID, ...]
    asks_alone: bool


def settle(batch: Sequence[PendingFact], plan: Plan, writes: Sequence[ObservationWrite]) -> Settled:
    """The batch after an answer: nothing counts as not durable that was not skipped by name, or left out when alone.

    In a full scope not even that: there it is kept out by the cap.
    """
    outcomes = _outcomes(writes)
    verdicts, overlooked = [], []
    asks_alone = plan.refused_delete and not all(row.was_refused_delete for row in batch)
    for row in batch:
        if row.fact.id in outcomes:
            verdicts.append(Verdict(row.work_id, outcomes[row.fact.id]))
        elif row.fact.id in plan.capped:
            verdicts.append(Verdict(row.work_id, "capped"))
        elif row.fact.id in plan.skipped or (len(batch) == 1 and not asks_alone):
            verdicts.append(Verdict(row.work_id, "capped" if plan.is_full else "not_durable"))
        else:
            overlooked.append(row.work_id)
    return Settled(tuple(verdicts), tuple(overlooked), asks_alone and bool(overlooked))


def counts_of(settled: Settled, plan: Plan, writes: Sequence[ObservationWrite]) -> Mapping[str, int]:
    """Facts by outcome, observations by what was done to them, and quotes by who chose them; zeros are left out."""
    counts = Counter[str](verdict.outcome for verdict in settled.verdicts)
    counts["overlooked"] = len(settled.overlooked)
    counts["refused"] = len(plan.refusals)
    for write in writes:
        counts["observations_created" if write.is_new else "observations_updated"] += 1
        counts["observations_merged"] += len(write.absorbs)
        for piece in write.evidence:
            counts[f"quotes_{piece.origin}"] += 1
    return {name: number for name, number in counts.items() if number}


def _outcomes(writes: Sequence[ObservationWrite]) -> dict[UUID, Outcome]:
    """What became of each fact that is evidence of something written."""
    found: dict[UUID, Outcome] = {}
    for write in writes:
        outcome: Outcome = "created" if write.is_new else "updated" if write.text is not None else "evidence"
        for piece in write.evidence:
            found[piece.fact_id] = "multiple" if piece.fact_id in found else outcome
    return found
