"""Sorts out what can be stored when some chunks failed for good.  Called by the job; pure.

A named document is stored whole or not at all, so its former version stays; of the items that share a generated
document only those that failed are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hindsight_aws.errors import HindsightError
from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.retain.plan import DocumentPlan

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Triage:
    """`tasks` can be stored, `unfinished` cannot; `error` says why and names the items, None when all is well."""

    tasks: Sequence[DocumentTask]
    unfinished: Sequence[DocumentTask]
    error: HindsightError | None


def sort_out(plans: Sequence[DocumentPlan], failed: Mapping[str, HindsightError]) -> Triage:
    """What of the plans can be stored, given the errors by extraction key."""
    if not failed:
        return Triage([plan.task for plan in plans], (), None)
    tasks: list[DocumentTask] = []
    unfinished: list[DocumentTask] = []
    causes: dict[str, HindsightError] = {}
    for plan in plans:
        errors = {chunk.part.position: failed[chunk.key or ""] for chunk in plan.new_chunks if chunk.key in failed}
        if not errors:
            tasks.append(plan.task)
            continue
        causes |= {f"items[{position}].content": error for position, error in errors.items()}
        if plan.task.external_id is not None:
            unfinished.append(plan.task)
            continue
        whole = [part for part in plan.task.parts if part.position not in errors]
        if whole:
            tasks.append(replace(plan.task, parts=tuple(whole)))
        left = tuple(part for part in plan.task.parts if part.position in errors)
        unfinished.append(replace(plan.task, mode="append", parts=left))
    return Triage(tasks, unfinished, _error(causes, len(tasks) > 0))


def _error(causes: Mapping[str, HindsightError], others_stored: bool) -> HindsightError | None:
    """The first error again, with every item it concerns named."""
    if not causes:
        return None
    first = next(iter(causes.values()))
    named = "; ".join(f"{path}: {error}" for path, error in _first(causes.items()))
    more = f"; and {len(causes) - _MOST_NAMED} more" if len(causes) > _MOST_NAMED else ""
    return type(first)(f"{named}{more}{'; the other items are stored' if others_stored else ''}")


def _first(causes: Iterable[tuple[str, HindsightError]]) -> list[tuple[str, HindsightError]]:
    return list(causes)[:_MOST_NAMED]
