"""Entities in Postgres: found by keys under forced row-level security, written so that nothing is lost or doubled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from random import Random

import psycopg
import pytest

from hindsight_aws.entities import FactNames
from hindsight_aws.model.entity import EntityName
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.text.trigrams import is_measured_alike
from tests.conftest import Dose
from tests.integration.entities.conftest import Register, moment
from tests.support.database import Database
from tests.support.entities import ONE, SIMILARITIES, TODAY, TWO, BankOfNames, named
from tests.support.units import Unit


@pytest.mark.parametrize(("left", "right", "measured"), SIMILARITIES)
def test_the_database_measures_names_as_the_application_does(
    database: Database, left: str, right: str, measured: float
) -> None:
    with psycopg.connect(database.write_url) as connection:
        row = connection.execute("SELECT name_similarity(%s, %s)", (left, right)).fetchone()

    assert row is not None
    assert is_measured_alike(left)
    assert row[0] == pytest.approx(measured, abs=1e-6)


@pytest.mark.parametrize("pair", ONE.values(), ids=list(ONE))
def test_names_of_one_thing_are_one_entity_in_one_retain_and_in_two(register: Register, pair: tuple[str, str]) -> None:
    left, right = (named(name) for name in pair)
    apart, turned = register.another_bank(), register.another_bank()

    register.retain(left, right)
    for fact in (left, right):
        apart.retain(fact)
    for fact in (right, left):
        turned.retain(fact)

    assert [len(bank.parts()) for bank in (register, apart, turned)] == [1, 1, 1]
    assert [row["mention_count"] for row in register.rows("SELECT mention_count FROM entities")] == [2, 2, 2]


@pytest.mark.parametrize("pair", TWO.values(), ids=list(TWO))
def test_names_of_two_things_are_two_entities_in_one_retain_and_in_two(
    register: Register, pair: tuple[str, str]
) -> None:
    left, right = (named(name, "Acme") for name in pair)
    apart = register.another_bank()

    register.retain(left, right)
    for fact in (left, right):
        apart.retain(fact)

    assert [len(bank.parts()) for bank in (register, apart)] == [3, 3]


@pytest.mark.parametrize("has_extension", [True, False], ids=["pg_trgm", "without"])
def test_the_golden_names_make_the_same_entities_in_any_order_and_any_split(
    register: Register, dose: Dose, seed: int, has_extension: bool
) -> None:
    chance = Random(seed)
    facts = [named(name) for pair in (*ONE.values(), *TWO.values()) for name in pair]
    memory = BankOfNames()
    memory.retain(*facts)
    if not has_extension:
        register.change("UPDATE entities SET words = NULL")

    for _ in range(10 if dose == "deep" else 2):
        bank = register.another_bank()
        chance.shuffle(facts)
        for start in range(0, len(facts), 9):
            bank.retain(*facts[start : start + 9])
            if not has_extension:
                register.change("UPDATE entities SET words = NULL")
        assert bank.parts() == memory.parts()


def test_a_spelling_is_kept_with_its_reason_and_resolves_without_scoring(register: Register) -> None:
    register.retain(named("Kubernetes", at=moment(1)))
    register.retain(named("Kubernets", at=moment(2)))

    later = register.retain(named("kubernets", at=moment(30)))

    kept = register.rows("SELECT spelling, rule, score FROM entity_spellings")
    assert [(row["spelling"], row["rule"]) for row in kept] == [("Kubernets", "likeness")]
    assert 0.6 <= kept[0]["score"] < 1
    assert later.entities["kubernets"].rule == "spelling"
    assert register.entity("Kubernetes")["mention_count"] == 3


def test_two_spellings_in_one_fact_are_one_mention(register: Register) -> None:
    register.retain(named("GPT-4", "gpt 4", "Oslo"))

    assert register.parts() == {frozenset({"gpt 4", "gpt-4"}), frozenset({"oslo"})}
    assert register.entity("GPT-4")["mention_count"] == 1
    assert len(register.rows("SELECT * FROM unit_entities")) == 2
    assert len(register.rows("SELECT * FROM entity_cooccurrences")) == 1


def test_dates_of_facts_are_the_entitys_and_undated_ones_leave_them(register: Register) -> None:
    register.retain(named("Ada", at=moment(5)), named("Ada", at=moment(3)))
    register.retain(named("Ada", at=None), named("Bea", at=None))

    assert register.entity("Ada")["last_dated"] == moment(5)
    assert register.entity("Ada")["first_seen"] == moment(3)
    assert register.entity("Bea")["last_dated"] is None


def test_an_entity_that_was_claimed_first_has_the_dates_of_its_facts(register: Register) -> None:
    fact = named("Ada", at=moment(5))
    naming = register.resolve(fact)
    with register.store.transaction(register.tenant) as tx:
        tx.entities.claim(register.bank_id, naming.of(fact.names), [])

    register.write(naming, fact)

    ada = register.entity("Ada")
    assert (ada["first_seen"], ada["last_seen"], ada["mention_count"]) == (moment(5), moment(5), 1)


def test_r072_two_workers_name_one_city_with_a_dotted_capital(register: Register, store: PostgresStore) -> None:
    """[R072]."""
    _at_once(register, ["İstanbul", "İSTANBUL", "istanbul", "i̇stanbul"])

    assert [row["name_key"] for row in register.rows("SELECT name_key FROM entities")] == ["istanbul"]
    assert len(register.rows("SELECT * FROM unit_entities")) == 4


def test_r073_one_name_made_at_once_in_different_case_is_one_row(register: Register) -> None:
    """[R073]."""
    names = ["Ada Lovelace", "ADA LOVELACE", "ada lovelace", "Ada LOVELACE"]

    for _ in range(5):
        _at_once(register, names)

    assert register.entity("Ada Lovelace")["mention_count"] == 20
    assert len(register.rows("SELECT * FROM entities")) == 1


def test_names_made_at_once_in_opposite_order_wait_for_nobody_forever(register: Register) -> None:
    pairs = [("Ada", "Bea", "Cleo"), ("Cleo", "Bea", "Ada")]

    for _ in range(5):
        _at_once(register, pairs)

    assert {row["mention_count"] for row in register.rows("SELECT mention_count FROM entities")} == {10}


def test_r080_an_entity_pruned_between_resolution_and_write_is_made_again(register: Register) -> None:
    """[R080]."""
    register.retain(named("Kubernetes"))
    before = register.entity("Kubernetes")["entity_id"]
    fact = named("Kubernets")
    naming = register.resolve(fact)
    register.change("DELETE FROM entities")

    register.write(naming, fact)

    again = register.entity("Kubernetes")
    assert (again["entity_id"], again["mention_count"], again["canonical_name"]) == (before, 1, "Kubernetes")
    assert register.parts() == {frozenset({"kubernetes", "kubernets"})}
    assert register.retain(named("Kubernetse"), named("kubernetes")).entities["kubernetes"].key == "kubernetes"


def test_r068_labels_are_entities_of_their_own_kind_and_never_join(register: Register) -> None:
    """[R068]."""
    labels = tuple(EntityName(text, "label") for text in ("use:001", "use:002", "tool:kubernetes", "tool:kubernets"))

    register.retain(FactNames(labels, TODAY))
    register.retain(FactNames(labels, TODAY))

    found = register.rows("SELECT canonical_name, kind, mention_count FROM entities")
    assert {row["canonical_name"] for row in found} == {label.text for label in labels}
    assert {(row["kind"], row["mention_count"]) for row in found} == {("label", 2)}
    assert register.rows("SELECT * FROM entity_keys") == []


def test_r079_a_hub_joins_nothing_and_costs_little(register: Register) -> None:
    """[R079]."""
    register.retain(*(named("user", f"topic {number}", at=None) for number in range(400)))
    register.retain(named("user", "Kubernetes", at=None))

    register.retain(named("user", "Kubernets", at=None))

    assert frozenset({"kubernets"}) in register.parts()


def test_company_in_the_bank_joins_names_far_apart_in_time(register: Register) -> None:
    register.retain(named("Kubernetes", "Helm", at=moment(1)))

    register.retain(named("Kubernets", "Helm", at=moment(29)))

    assert frozenset({"kubernetes", "kubernets"}) in register.parts()


def test_a_bank_from_before_lookup_keys_gets_them_as_names_come_again(register: Register) -> None:
    register.retain(named("Kubernetes"))
    register.change("DELETE FROM entity_keys")
    register.change("UPDATE entities SET words = NULL")

    register.retain(named("KUBERNETES"))
    register.retain(named("Kubernets"))

    assert register.parts() == {frozenset({"kubernetes", "kubernets"})}


def test_another_banks_entities_are_not_found(register: Register) -> None:
    other = register.another_bank()
    other.retain(named("Kubernetes"))

    register.retain(named("Kubernets"))

    assert register.parts() == {frozenset({"kubernets"})}
    assert other.parts() == {frozenset({"kubernetes"})}


def test_a_sharp_name_as_long_as_allowed_fits_the_indexes(register: Register) -> None:
    names = ["漢" * 512, "x" * 512, "ß" * 256]

    register.retain(named(*names))

    assert len(register.parts()) == 3


def _at_once(register: Register, facts: Sequence[str] | Sequence[tuple[str, ...]]) -> None:
    """Each fact from a worker of its own, all at the same moment."""
    start = threading.Barrier(len(facts))
    given = [named(*((names,) if isinstance(names, str) else names)) for names in facts]
    units = register.units(*given)
    failures: list[BaseException] = []

    def work(fact: FactNames, unit: Unit) -> None:
        own = PostgresStore(lambda: register.database.write_url, connect_for_s=30.0)
        worker = Register(register.database, register.tenant, own, register.bank_id)
        try:
            naming = worker.resolve(fact)
            start.wait(60)
            worker.mention(naming, [unit], fact)
        except BaseException as failure:  # noqa: BLE001  told to the test, which fails by it
            failures.append(failure)
        finally:
            own.close()

    threads = [threading.Thread(target=work, args=each) for each in zip(given, units, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
