"""Which entity a name stands for: the same in one retain as in several, and whatever their order."""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsight_aws.entities import FactNames, merged, resolve
from hindsight_aws.entities.company import LEAST_SCORE, Company
from hindsight_aws.model.entity import EntityName, name_key
from tests.conftest import Dose
from tests.support.entities import FLOOR, ONE, TODAY, TWO, BankOfNames, named


def entities_of(*retains: tuple[FactNames, ...]) -> set[frozenset[str]]:
    """The entities of a new bank after these retains."""
    bank = BankOfNames()
    for facts in retains:
        bank.retain(*facts)
    return bank.parts()


@pytest.mark.parametrize("pair", ONE.values(), ids=list(ONE))
def test_one_thing_is_one_entity_in_one_retain_and_in_two(pair: tuple[str, str]) -> None:
    left, right = (named(name) for name in pair)

    ways = [entities_of((left, right)), entities_of((left,), (right,)), entities_of((right,), (left,))]

    assert [len(way) for way in ways] == [1, 1, 1]


@pytest.mark.parametrize("pair", TWO.values(), ids=list(TWO))
def test_two_things_are_two_entities_in_one_retain_and_in_two(pair: tuple[str, str]) -> None:
    left, right = (named(name, "Acme", "Oslo") for name in pair)

    ways = [entities_of((left, right)), entities_of((left,), (right,)), entities_of((right,), (left,))]

    assert [len(way) for way in ways] == [4, 4, 4]


_GOLDEN = [name for pair in (*ONE.values(), *TWO.values()) for name in pair]


def test_the_golden_names_make_the_same_entities_in_any_order_and_any_split(dose: Dose, seed: int) -> None:
    chance = Random(seed)
    facts = [named(name) for name in _GOLDEN]
    whole = entities_of(tuple(facts))

    for _ in range(300 if dose == "deep" else 20):
        chance.shuffle(facts)
        cuts = sorted(chance.sample(range(1, len(facts)), chance.randrange(0, 12)))
        split = [tuple(facts[start:end]) for start, end in zip([0, *cuts], [*cuts, len(facts)], strict=True)]
        assert entities_of(*split) == whole


_COMPANIONS = some.sampled_from(["Acme", "Oslo", "user", "Ada"])
_FACTS = some.builds(
    lambda names, others, days: named(*names, *others, at=TODAY + timedelta(days=days)),
    some.lists(some.sampled_from([*_GOLDEN, "Kubernetse", "Kubermetes", "Marina", "Martina"]), min_size=1, max_size=3),
    some.lists(_COMPANIONS, max_size=2),
    some.integers(0, 12),
)


@given(some.lists(_FACTS, min_size=1, max_size=6), some.randoms(use_true_random=False))
def test_the_order_of_the_facts_of_a_retain_does_not_matter(facts: list[FactNames], chance: Random) -> None:
    shuffled = chance.sample(facts, len(facts))

    assert entities_of(tuple(facts)) == entities_of(tuple(shuffled))


_PAIRED = ["Kubernetes", "Kubernets", "São Paulo", "Sao Paulo", "Smith, John", "John Smith", "Terraform", "Teraform"]
_PAIRED_FACTS = some.builds(
    lambda names, hours: named(*names, at=TODAY + timedelta(hours=hours)),
    some.lists(some.sampled_from([*_PAIRED, "Acme", "Oslo"]), min_size=1, max_size=4, unique=True),
    some.integers(0, 240),
)


@given(_PAIRED_FACTS, _PAIRED_FACTS)
def test_r077_two_facts_make_the_same_entities_in_one_retain_and_in_two(left: FactNames, right: FactNames) -> None:
    """[R077]."""
    whole = entities_of((left, right))

    assert entities_of((left,), (right,)) == whole
    assert entities_of((right,), (left,)) == whole


def test_two_pairs_in_each_others_company_come_out_alike() -> None:
    left = named("Kubernetes", "Sao Paulo")
    right = named("Kubernets", "São Paulo", at=TODAY + timedelta(hours=62))

    ways = [entities_of((left, right)), entities_of((left,), (right,)), entities_of((right,), (left,))]

    assert [len(way) for way in ways] == [2, 2, 2]


@given(some.lists(_FACTS, min_size=1, max_size=5))
def test_names_go_on_to_stand_for_what_they_stood_for(facts: list[FactNames]) -> None:
    bank = BankOfNames()
    first = bank.retain(*facts)
    before = bank.parts()

    again = bank.retain(*facts)

    assert {key: entity.key for key, entity in again.entities.items()} == {
        key: entity.key for key, entity in first.entities.items()
    }
    assert {entity.rule for entity in again.entities.values()} <= {"exact", "spelling"}
    assert bank.parts() == before


def test_a_name_taken_for_anothers_says_why_and_is_not_scored_again() -> None:
    bank = BankOfNames()
    bank.retain(named("Kubernetes"))

    taken = bank.retain(named("Kubernets")).entities["kubernets"]
    later = bank.retain(named("KUBERNETS", at=TODAY + timedelta(days=400))).entities["kubernets"]

    assert (taken.name, taken.rule) == ("Kubernetes", "likeness")
    assert LEAST_SCORE <= taken.score < 1
    assert (later.name, later.rule) == ("Kubernetes", "spelling")


def test_a_typo_far_in_time_and_in_other_company_is_another_entity() -> None:
    bank = BankOfNames()
    bank.retain(named("Kubernetes", "Oslo"))

    bank.retain(named("Kubernets", "Lima", at=TODAY + timedelta(days=8)))

    assert len(bank.parts()) == 4


def test_undated_facts_are_near_to_nothing_in_time() -> None:
    ways = [
        entities_of((named("Kubernetes", at=None), named("Kubernets", at=None))),
        entities_of((named("Kubernetes", at=None),), (named("Kubernets", at=None),)),
        entities_of((named("Kubernetes", at=None),), (named("Kubernets"),)),
    ]

    assert [len(way) for way in ways] == [2, 2, 2]


def test_a_shared_neighbour_joins_what_time_does_not() -> None:
    later = TODAY + timedelta(days=30)
    left, right = named("Kubernetes", "Helm"), named("Kubernets", "Helm", at=later)

    ways = [entities_of((left, right)), entities_of((left,), (right,)), entities_of((right,), (left,))]

    assert ways[0] == ways[1] == ways[2]
    assert len(ways[0]) == 2


def test_r079_a_hub_that_everything_stands_beside_adds_almost_nothing() -> None:
    """[R079]."""
    bank = BankOfNames()
    bank.retain(*(named("user", f"topic {number}", at=None) for number in range(400)))
    bank.retain(named("user", "Kubernetes", at=None))

    bank.retain(named("user", "Kubernets", at=None))
    company = Company()
    company.stored("user", [f"topic {number}" for number in range(400)])
    for name in ("Kubernetes", "Kubernets"):
        company.fact(["user", name], None)

    assert frozenset({"kubernets"}) in bank.parts()
    assert company.score("Kubernetes", "Kubernets", 0.0) < 0.02


@given(
    some.floats(0, 1), some.integers(0, 10), some.lists(_COMPANIONS, max_size=3), some.lists(_COMPANIONS, max_size=3)
)
def test_the_score_knows_no_order(alike: float, days: int, ours: list[str], theirs: list[str]) -> None:
    company = Company()
    company.fact(["left", *ours], TODAY)
    company.fact(["right", *theirs], TODAY + timedelta(days=days))

    score = company.score("left", "right", alike)

    assert score == company.score("right", "left", alike)
    assert 0 <= score <= 1


def test_the_least_score_is_enough() -> None:
    company = Company()
    company.fact(["left"], TODAY)
    company.fact(["right"], TODAY + timedelta(days=3.5))

    assert company.score("left", "right", 1.0) == LEAST_SCORE


def test_names_that_one_fact_sets_side_by_side_are_two_things() -> None:
    together = named("Kubernetes", "Kubernets")

    assert len(entities_of((together,))) == 2
    assert len(entities_of((together, named("Kubernets"), named("Kubernetes")))) == 2


def test_a_name_joins_an_entity_only_if_every_spelling_of_it_agrees() -> None:
    bank = BankOfNames()
    bank.retain(named("Sao Paulo"))
    bank.retain(named("São Paulo"))

    bank.retain(named("Sáo Paulo"))

    assert bank.parts() == {frozenset({"sao paulo", "são paulo"}), frozenset({"sáo paulo"})}


def test_r078_a_literal_name_is_exactly_itself_even_if_extraction_found_it_too() -> None:
    """[R078]."""
    bank = BankOfNames()
    bank.retain(named("Alistair Smythe"))
    both = merged([EntityName("alistair smithe"), EntityName("Alistair Smithe", is_literal=True)])

    naming = bank.retain(FactNames(both, TODAY), named("Alistair Smithe"))

    assert naming.entities["alistair smithe"].name == "alistair smithe"
    assert {"alistair smythe", "alistair smithe"} <= {name for part in bank.parts() for name in part if len(part) == 1}


def test_a_literal_name_that_was_another_spelling_becomes_an_entity_of_its_own() -> None:
    bank = BankOfNames()
    bank.retain(named("Kubernetes"))
    bank.retain(named("Kubernets"))

    literal = bank.retain(FactNames((EntityName("Kubernets", is_literal=True),), TODAY))
    later = bank.retain(named("Kubernets"))

    assert literal.entities["kubernets"].key == "kubernets"
    assert later.entities["kubernets"].rule == "exact"


def test_labels_are_never_taken_for_names_nor_for_one_another() -> None:
    bank = BankOfNames()
    labels = tuple(EntityName(text, "label") for text in ("tool:kubernetes", "tool:kubernets"))

    naming = bank.retain(FactNames(labels, TODAY), named("Tool Kubernetes"))

    assert len(bank.parts()) == 3
    assert [naming.entities[name_key(label.text)].kind for label in labels] == ["label", "label"]
    assert all(not naming.entities[name_key(label.text)].keys for label in labels)


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["Acme\nCorp", "Acme  Corp", " "], ["Acme Corp"]),
        (["x" * 600, "Ada"], ["Ada"]),
        (["İstanbul", "istanbul"], ["İstanbul"]),
        (["ﬃ" * 400], []),
    ],
    ids=["R070", "R071", "R072", "key-longer-than-an-index-takes"],
)
def test_what_is_no_name_is_left_out_and_the_rest_stands_once(names: list[str], kept: list[str]) -> None:
    assert [name.text for name in merged(EntityName(name) for name in names)] == kept


def test_r082_three_hundred_new_names_are_joined_as_few_are() -> None:
    """[R082]."""
    names = [f"Project {chr(97 + number % 26) * 7} {number}" for number in range(150)]
    facts = [named(name) for name in names] + [named(name.upper().replace(" ", "-")) for name in names]
    began = time.process_time()

    parts = entities_of(tuple(facts))

    assert len(parts) == 150
    assert {len(part) for part in parts} == {2}
    assert time.process_time() - began < 5


def test_three_spellings_in_any_order_are_one(seed: int) -> None:
    facts = [named("Kubernetes"), named("Kubernets"), named("KUBERNETES"), named("Helm")]

    ways = [entities_of(*((fact,) for fact in order)) for order in permutations(facts)]

    assert all(way == ways[0] for way in ways)


def test_nothing_is_asked_for_facts_without_names() -> None:
    naming = resolve(BankOfNames(), BankOfNames().bank_id, [FactNames(())], FLOOR)

    assert naming.of(()) == ()
