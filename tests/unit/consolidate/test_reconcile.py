"""Whatever is near to what, and whatever the judge says: no evidence is lost and nothing ends without an heir."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.consolidate.ask import Judgement
from hindsight_aws.consolidate.check import make_plan
from hindsight_aws.consolidate.reconcile import Vector, reconcile
from hindsight_aws.consolidate.reply import read_reply
from hindsight_aws.model.plan import Create, Evidence, Plan, ShownFact, ShownObservation, Update
from hindsight_aws.ports.consolidation import Neighbour
from hindsight_aws.ports.observations import ObservationWrite

FACTS = [ShownFact(UUID(int=0xF0000001 + n << 96), f"Fact {n} says so.", 1) for n in range(4)]
HELD = [ShownObservation(UUID(int=0xA0000001 + n << 96), f"Belief {n}.", 1) for n in range(5)]
NORTH, EAST = (1.0, 0.0), (0.0, 1.0)


@dataclass
class FakeScope:
    """A scope of five observations; texts point north or east, and a list of verdicts judges."""

    east: frozenset[str] = frozenset()
    verdicts: Sequence[bool] = ()
    wordings: Sequence[str | None] = ()
    questions: list[tuple[str, str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self._vector(text) for text in texts]

    def neighbours(self, vectors: Sequence[Vector]) -> list[list[Neighbour]]:
        return [
            [Neighbour(o.id, o.text, 1.0) for o in HELD if self._vector(o.text) == tuple(vector)] for vector in vectors
        ]

    def judge(self, new: str, existing: str) -> Judgement:
        self.questions.append((new, existing))
        turn = len(self.questions) - 1
        is_same = self.verdicts[turn % len(self.verdicts)] if self.verdicts else False
        wording = self.wordings[turn % len(self.wordings)] if self.wordings else None
        return Judgement(is_same, wording if is_same else None)

    def _vector(self, text: str) -> Vector:
        return EAST if text in self.east else NORTH


def _piece(fact: int) -> Evidence:
    return Evidence(FACTS[fact].id, FACTS[fact].text, "whole")


def _supported(writes: Sequence[ObservationWrite]) -> set[UUID]:
    return {piece.fact_id for write in writes for piece in write.evidence}


def test_an_exact_twin_is_taken_before_others_that_are_as_near() -> None:
    scope = FakeScope()
    plan = Plan(creates=(Create("Belief  3.", (_piece(0),)),))

    (write,) = reconcile(plan, scope, 0.97)

    assert (write.observation_id, write.text, write.is_new) == (HELD[3].id, None, False)
    assert scope.questions == []


def test_a_wording_that_two_sides_agree_on_is_embedded_anew() -> None:
    scope = FakeScope(verdicts=[True], wordings=["Both at once."])
    plan = Plan(creates=(Create("New.", (_piece(0),)),))

    (write,) = reconcile(plan, scope, 0.97)

    assert (write.text, write.embedding, write.is_new) == ("Both at once.", NORTH, False)


def test_texts_without_a_direction_are_near_to_nothing() -> None:
    class Blank(FakeScope):
        def embed(self, texts: Sequence[str]) -> list[Vector | None]:
            return [None for _ in texts]

    scope = Blank(verdicts=[True])

    writes = reconcile(Plan(creates=(Create("A.", (_piece(0),)), Create("B.", (_piece(1),)))), scope, 0.97)

    assert [write.text for write in writes] == ["A.", "B."]
    assert scope.questions == []


def test_a_rewritten_twin_is_compared_by_its_new_wording_alone() -> None:
    scope = FakeScope(east=frozenset({"Elsewhere."}), verdicts=[True])
    plan = Plan(updates=(Update(HELD[0].id, "Elsewhere.", (_piece(0),)),), creates=(Create("New.", (_piece(1),)),))

    reconcile(plan, scope, 0.97)

    assert scope.questions == [("New.", "Belief 1.")]


IDS = st.sampled_from([str(o.id) for o in HELD])
TEXTS = st.sampled_from(["Belief 0.", "Belief 4.", "New.", "Newer.", "Newest."])
SOURCES = st.lists(st.sampled_from([str(fact.id) for fact in FACTS]), min_size=1, max_size=3)
ACTIONS = st.fixed_dictionaries({"text": TEXTS, "source_fact_ids": SOURCES, "observation_id": IDS})
REPLIES = st.fixed_dictionaries(
    {
        "creates": st.lists(ACTIONS, max_size=4),
        "updates": st.lists(ACTIONS, max_size=4),
        "deletes": st.lists(st.fixed_dictionaries({"observation_id": IDS, "merged_into": IDS}), max_size=3),
    }
)
EAST_TEXTS = st.frozensets(st.sampled_from([*(o.text for o in HELD), "New.", "Newer.", "Newest.", "Joint."]))


@given(REPLIES, EAST_TEXTS, st.lists(st.booleans(), min_size=1, max_size=4), st.lists(st.none() | TEXTS, max_size=3))
def test_no_evidence_is_lost_and_nothing_ends_without_an_heir_that_stays(
    reply: dict[str, object], east: frozenset[str], verdicts: list[bool], wordings: list[str | None]
) -> None:
    plan = make_plan(read_reply(reply), FACTS, HELD, None)
    scope = FakeScope(east, verdicts, wordings)

    writes = reconcile(plan, scope, 0.97)

    evidence = [action.evidence for action in plan.creates] + [action.evidence for action in plan.updates]
    cited = {piece.fact_id for pieces in evidence for piece in pieces}
    ended = [gone for write in writes for gone in write.absorbs]
    written = [write.observation_id for write in writes]
    assert _supported(writes) == cited
    assert len(ended) == len(set(ended))
    assert len(written) == len(set(written))
    assert not set(ended) & set(written)
    assert {merge.observation_id for merge in plan.merges} <= set(ended)
    assert set(ended) <= {o.id for o in HELD}
    assert all(not write.absorbs for write in writes if write.is_new)
    assert len(scope.questions) <= len(plan.creates) + len(plan.updates)
