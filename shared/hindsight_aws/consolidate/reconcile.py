"""From a plan to the rows to write: new wordings are embedded, and near-duplicates are merged or kept apart.

Called by the drain, outside any transaction.  Compares only within the exact scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID, uuid4

from hindsight_aws.consolidate.ask import Judgement
from hindsight_aws.consolidate.check import folded, united
from hindsight_aws.model.plan import Evidence, Plan
from hindsight_aws.ports.consolidation import Neighbour
from hindsight_aws.ports.observations import ObservationWrite
from hindsight_aws.text.terms import frequencies

Vector = Sequence[float]


class Scope(Protocol):
    """What reconciliation asks of the scope it works in."""

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """A vector of length one for each text, or None for a text without a direction."""
        ...

    def neighbours(self, vectors: Sequence[Vector]) -> list[list[Neighbour]]:
        """The scope's observations within the threshold of each vector, closest first."""
        ...

    def judge(self, new: str, existing: str) -> Judgement:
        """Whether both make the same claim."""
        ...


@dataclass(slots=True)
class _Draft:
    """An observation as it will be; grows while duplicates fold into it."""

    observation_id: UUID
    text: str | None
    evidence: tuple[Evidence, ...]
    is_new: bool
    absorbs: list[UUID] = field(default_factory=list)
    vector: Vector | None = None
    is_reworded: bool = False


def reconcile(plan: Plan, scope: Scope, threshold: float) -> list[ObservationWrite]:
    """What the plan writes, after folding near-duplicates (cosine at or above `threshold`; 1.0 and above folds none).

    An exact twin merges without a question; else the scope's judge reads both whole texts.  Each new wording is
    compared once, with
    whatever is closest by then, earlier wordings of the same plan included.
    """
    return _Reconciler(plan, scope, threshold).writes()


class _Reconciler:
    def __init__(self, plan: Plan, scope: Scope, threshold: float) -> None:
        self._scope = scope
        self._threshold = threshold
        self._drafts: dict[UUID, _Draft] = {}
        for update in plan.updates:
            self._add(_Draft(update.observation_id, update.text, update.evidence, is_new=False))
        for merge in plan.merges:
            self._add_silent(merge.into).absorbs.append(merge.observation_id)
        for create in plan.creates:
            self._add(_Draft(uuid4(), create.text, create.evidence, is_new=True))
        self._ending = {merge.observation_id for merge in plan.merges}

    def writes(self) -> list[ObservationWrite]:
        worded = [draft for draft in self._drafts.values() if draft.text is not None]
        self._embed(worded)
        if self._threshold < 1.0:
            self._fold(worded)
            self._embed([draft for draft in self._drafts.values() if draft.is_reworded])
        return [_write(draft) for draft in self._drafts.values()]

    def _fold(self, worded: Sequence[_Draft]) -> None:
        placed = [draft for draft in worded if draft.vector is not None]
        stored = self._scope.neighbours([draft.vector for draft in placed if draft.vector is not None])
        for place, draft in enumerate(placed):
            twin = self._closest(draft, stored[place], placed[:place])
            if twin is not None:
                self._compare(draft, *twin)

    def _closest(
        self, draft: _Draft, stored: Sequence[Neighbour], earlier: Sequence[_Draft]
    ) -> tuple[UUID, str] | None:
        """The id and present text of the nearest other wording within the threshold; of an exact twin first of all."""
        found: list[tuple[bool, float, UUID, str]] = []
        for neighbour in stored:
            known = self._drafts.get(neighbour.observation_id)
            is_other = neighbour.observation_id != draft.observation_id and neighbour.observation_id not in self._ending
            if is_other and (known is None or known.text is None):
                is_twin = folded(neighbour.text) == folded(draft.text or "")
                found.append((is_twin, neighbour.similarity, neighbour.observation_id, neighbour.text))
        for other in earlier:
            if other.observation_id in self._drafts and other.text is not None:
                similarity = _cosine(draft.vector, other.vector)
                if similarity >= self._threshold:
                    is_twin = folded(other.text) == folded(draft.text or "")
                    found.append((is_twin, similarity, other.observation_id, other.text))
        best = max(found, key=lambda candidate: candidate[:2], default=None)
        return None if best is None else best[2:]

    def _compare(self, draft: _Draft, twin_id: UUID, twin_text: str) -> None:
        if draft.text is None:
            return
        if folded(draft.text) == folded(twin_text):
            verdict = Judgement(is_same=True)
        else:
            verdict = self._scope.judge(draft.text, twin_text)
        if not verdict.is_same:
            return
        twin = self._add_silent(twin_id)
        twin.evidence = united(twin.evidence, draft.evidence)
        twin.absorbs += draft.absorbs if draft.is_new else [*draft.absorbs, draft.observation_id]
        if not draft.is_new:
            self._ending.add(draft.observation_id)
        if verdict.text is not None and verdict.text != twin_text:
            twin.text, twin.vector, twin.is_reworded = verdict.text, None, True
        del self._drafts[draft.observation_id]

    def _embed(self, drafts: Sequence[_Draft]) -> None:
        if not drafts:
            return
        vectors = self._scope.embed([draft.text or "" for draft in drafts])
        for draft, vector in zip(drafts, vectors, strict=True):
            draft.vector = vector

    def _add(self, draft: _Draft) -> None:
        self._drafts[draft.observation_id] = draft

    def _add_silent(self, observation_id: UUID) -> _Draft:
        """A draft for a stored observation that so far only takes over evidence."""
        return self._drafts.setdefault(observation_id, _Draft(observation_id, None, (), is_new=False))


def _write(draft: _Draft) -> ObservationWrite:
    return ObservationWrite(
        observation_id=draft.observation_id,
        text=draft.text,
        embedding=draft.vector,
        terms=frequencies(draft.text) if draft.text is not None else {},
        evidence=draft.evidence,
        is_new=draft.is_new,
        absorbs=tuple(draft.absorbs),
    )


def _cosine(first: Vector | None, second: Vector | None) -> float:
    """The cosine of two vectors of length one."""
    if first is None or second is None:
        return 0.0
    return sum(map(_product, first, second))


_product: Callable[[float, float], float] = float.__mul__
