"""Checks a model's reply against what it was shown and makes it a plan: the loss guard.

Pure.  Called by round.py and reconcile.py.  A reply that does not hold to the schema is refused whole
(ModelReplyMalformed); within one that does, an action that names what was not shown is dropped, alone, and told.
Nothing here can end an observation without an heir.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from hindsight_aws.consolidate.reply import Action, Deletion, Reply
from hindsight_aws.model.plan import Create, Evidence, Merge, Plan, Refusal, ShownFact, ShownObservation, Update

_REPAIR_PREFIX = 13


def make_plan(
    reply: Reply, facts: Sequence[ShownFact], observations: Sequence[ShownObservation], room: int | None
) -> Plan:
    """The plan of a well-formed reply about these facts and observations.

    `room` bounds new observations (None: no bound).

    Guarantees: evidence names only facts of the batch, each with an exact quote; updates and merges name only shown
    observations; no observation ends except into another shown one; every fact is accounted for once.
    """
    return _Checker(facts, observations).plan(reply, room)


def repaired(wanted: str, shown: Iterable[UUID]) -> UUID | None:
    """The shown id that `wanted` means: itself, or the only one that shares its first 13 characters.

    Models miscopy the tail of an id now and then.
    """
    known = {str(candidate): candidate for candidate in shown}
    spelled = wanted.strip().lower()
    if spelled in known:
        return known[spelled]
    if len(spelled) < _REPAIR_PREFIX:
        return None
    near = [candidate for text, candidate in known.items() if text.startswith(spelled[:_REPAIR_PREFIX])]
    return near[0] if len(near) == 1 else None


def folded(text: str) -> str:
    """The text with runs of white space made one blank: equal results are exact twins."""
    return " ".join(text.split())


class _Checker:
    """One reply's way to a plan."""

    def __init__(self, facts: Sequence[ShownFact], observations: Sequence[ShownObservation]) -> None:
        self._facts: Mapping[UUID, ShownFact] = {fact.id: fact for fact in facts}
        self._observations = {observation.id: observation for observation in observations}
        self._refusals: list[Refusal] = []
        self._updates: dict[UUID, Update] = {}
        self._creates: dict[str, Create] = {}
        self._refused_delete = False

    def plan(self, reply: Reply, room: int | None) -> Plan:
        misaimed = self._take_updates(reply.updates)
        self._take_creates([*reply.creates, *misaimed])
        merges = self._merges(reply.deletes)
        kept, capped = self._within(room)
        used = {e.fact_id for create in kept for e in create.evidence}
        used |= {e.fact_id for update in self._updates.values() for e in update.evidence}
        capped -= used
        skipped = self._skipped(reply.skipped) - used - capped
        is_full = room == 0
        if is_full:
            # A model that was told there is no room skips what it would have kept: a wider cap asks about it again.
            capped, skipped = capped | skipped, set()
        overlooked = frozenset(self._facts) - used - capped - skipped
        return Plan(
            creates=tuple(kept),
            updates=tuple(self._updates.values()),
            merges=tuple(merges),
            skipped=frozenset(skipped),
            capped=frozenset(capped),
            overlooked=overlooked,
            refusals=tuple(self._refusals),
            refused_delete=self._refused_delete,
            is_full=is_full,
        )

    def _take_updates(self, actions: Sequence[Action]) -> list[Action]:
        """Fills the updates, the last wording winning; returns those that name a fact: creates in disguise."""
        misaimed = []
        for action in actions:
            target = repaired(action.observation_id or "", self._observations)
            if target is None:
                if repaired(action.observation_id or "", self._facts) is not None:
                    misaimed.append(action)
                else:
                    self._refuse("update", "it names an observation that was not shown")
                continue
            evidence = self._evidence(action, "update")
            if evidence and self._has_text(action, "update"):
                before = self._updates.get(target)
                joined = united(before.evidence if before else (), evidence)
                self._updates[target] = Update(target, action.text, joined)
        return misaimed

    def _take_creates(self, actions: Sequence[Action]) -> None:
        """Fills the creates; the twin of something shown, updated or already created becomes its evidence instead."""
        shown = {folded(o.text): o.id for o in self._observations.values() if o.id not in self._updates}
        rewritten = {folded(u.text): u.observation_id for u in self._updates.values() if u.text is not None}
        for action in actions:
            evidence = self._evidence(action, "create")
            if not evidence or not self._has_text(action, "create"):
                continue
            wording = folded(action.text)
            twin = rewritten.get(wording) or shown.get(wording)
            if twin is not None:
                before = self._updates.get(twin, Update(twin, None, ()))
                self._updates[twin] = Update(twin, before.text, united(before.evidence, evidence))
            else:
                earlier = self._creates.get(wording)
                self._creates[wording] = Create(action.text, united(earlier.evidence if earlier else (), evidence))

    def _merges(self, deletions: Sequence[Deletion]) -> list[Merge]:
        """The deletes that name an heir; every other delete is dropped and its target kept."""
        heirs: dict[UUID, UUID] = {}
        for deletion in deletions:
            target = repaired(deletion.observation_id, self._observations)
            if target is None or target in self._updates:
                self._refuse("delete", "the observation was not shown, or the same reply rewrites it")
                continue
            heir = repaired(deletion.merged_into, self._observations) if deletion.merged_into else None
            if heir is None or heir == target:
                self._refused_delete = True
                self._refuse(
                    "delete", "a delete must name, in merged_into, another shown observation that takes the evidence"
                )
                continue
            heirs[target] = heir
        return [Merge(target, heir) for target, heir in heirs.items() if self._inherits(heir, heirs)]

    def _inherits(self, heir: UUID, heirs: Mapping[UUID, UUID]) -> bool:
        """Whether the heir itself stays: a chain or ring of merges would lose its last link."""
        if heir not in heirs:
            return True
        self._refused_delete = True
        self._refuse("delete", "the observation named in merged_into is itself deleted by the same reply")
        return False

    def _within(self, room: int | None) -> tuple[list[Create], set[UUID]]:
        """The creates that fit, first come first kept, and the facts of those that do not."""
        creates = list(self._creates.values())
        if room is None or len(creates) <= room:
            return creates, set()
        self._refuse("create", f"only {room} more observations fit in this scope")
        return creates[:room], {e.fact_id for create in creates[room:] for e in create.evidence}

    def _evidence(self, action: Action, kind: str) -> tuple[Evidence, ...]:
        """One piece of evidence per cited fact of the batch, in order of citing."""
        found: dict[UUID, Evidence] = {}
        for cited in action.source_fact_ids:
            fact_id = repaired(cited, self._facts)
            if fact_id is not None and fact_id not in found:
                found[fact_id] = self._quoted(self._facts[fact_id], action)
        if not found:
            self._refuse(kind, "it cites no fact of this call")
        return tuple(found.values())

    def _quoted(self, fact: ShownFact, action: Action) -> Evidence:
        for cited, quote in action.quotes:
            if repaired(cited, self._facts) == fact.id and quote.strip() and quote.strip() in fact.text:
                return Evidence(fact.id, quote.strip(), "model")
        return Evidence(fact.id, fact.text, "whole")

    def _has_text(self, action: Action, kind: str) -> bool:
        # A text without a letter or a digit says nothing, and has no direction by which its twin could be found.
        if any(char.isalnum() for char in action.text):
            return True
        self._refuse(kind, "its text is empty")
        return False

    def _skipped(self, ids: Sequence[str]) -> set[UUID]:
        return {fact_id for spelled in ids if (fact_id := repaired(spelled, self._facts)) is not None}

    def _refuse(self, action: str, reason: str) -> None:
        self._refusals.append(Refusal(action, reason))


def united(first: Sequence[Evidence], second: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Both, each fact once; a model's quote is preferred to the whole text."""
    found: dict[UUID, Evidence] = {}
    for evidence in (*first, *second):
        held = found.get(evidence.fact_id)
        if held is None or (held.origin == "whole" and evidence.origin == "model"):
            found[evidence.fact_id] = evidence
    return tuple(found.values())
