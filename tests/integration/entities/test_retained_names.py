"""Names on their way through retain: from the model and the caller to entities, vectors and keyword search."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import EntityHint, RetainItem
from tests.integration.retain.conftest import Workshop, workshop
from tests.support.models import block, fact

__all__ = ["workshop"]

DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def names_per_line(call: ModelCall) -> JsonObject:
    """Each line of the chunk is a fact that names what stands between its commas."""
    lines = [line for line in str(block(call, "chunk")["text"]).split("\n") if line.strip()]
    return {"facts": [fact(f"About {line}.", entities=[name.strip() for name in line.split(",")]) for line in lines]}


@pytest.fixture
def shop(workshop: Workshop) -> Workshop:
    workshop.model.script = names_per_line
    return workshop


def entities(shop: Workshop, bank: str = "bank") -> dict[str, int]:
    """Mentions by the name of the entity."""
    rows = shop.rows(
        "SELECT canonical_name, mention_count FROM entities "
        "WHERE bank_id = (SELECT bank_id FROM banks WHERE external_id = %s) ORDER BY name_key",
        bank,
    )
    return {row["canonical_name"]: row["mention_count"] for row in rows}


def test_r070_a_name_in_two_line_breaks_is_one_entity_with_one_mention(shop: Workshop) -> None:
    """[R070]."""
    shop.model.script = lambda call: {"facts": [fact("It grew.", entities=["Acme\nCorp", "Acme  Corp"])]}

    shop.retain(RetainItem("It grew.", entities=(EntityHint("acme \t corp"),)))

    assert entities(shop) == {"Acme Corp": 1}


def test_r071_a_name_too_long_is_dropped_and_the_fact_is_stored(shop: Workshop) -> None:
    """[R071]."""
    shop.model.script = lambda call: {"facts": [fact("It grew.", entities=["x" * 600, "Ada"])]}

    shop.retain(RetainItem("It grew."))

    assert shop.texts() == ["It grew."]
    assert entities(shop) == {"Ada": 1}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["Alice, Acme", "Alice Chen, Acme"], ["Acme", "Alice", "Alice Chen"]),
        (["Kubernetes, Acme", "Kubernets, Acme"], ["Acme", "Kubernetes"]),
        (["John Smith, Acme", "Jane Smith, Acme"], ["Acme", "Jane Smith", "John Smith"]),
        (["Google, Acme", "Googol, Acme"], ["Acme", "Google", "Googol"]),
        (["Room 101, Acme", "Room 102, Acme"], ["Acme", "Room 101", "Room 102"]),
    ],
    ids=["R077-part-of-a-name", "R077-typo", "R074", "R076", "R075"],
)
def test_names_end_up_alike_in_one_retain_and_in_two(shop: Workshop, lines: list[str], found: list[str]) -> None:
    shop.retain(RetainItem("\n".join(lines), timestamp=DAY), bank="one")
    for line in lines:
        shop.retain(RetainItem(line, timestamp=DAY), bank="two")
    shop.retain(*(RetainItem(line, timestamp=DAY, document_id=line) for line in lines), bank="items")

    assert [list(entities(shop, bank)) for bank in ("one", "two", "items")] == [found, found, found]


def test_r078_resolve_entities_false_makes_the_entity_of_exactly_that_name(shop: Workshop) -> None:
    """[R078]."""
    shop.retain(RetainItem("Kubernetes", timestamp=DAY))

    shop.retain(
        RetainItem("Kubernets", timestamp=DAY, entities=(EntityHint("Kubernets"),), resolve_entities=False),
    )
    shop.retain(RetainItem("Helm", timestamp=DAY, entities=(EntityHint("KUBERNETES"),), resolve_entities=False))

    assert entities(shop) == {"Helm": 1, "Kubernetes": 2, "Kubernets": 1}


def test_r081_the_callers_names_are_in_the_vector_and_in_the_keyword_index(shop: Workshop) -> None:
    """[R081]."""
    shop.has_model = False

    shop.retain(RetainItem("A whole note.", timestamp=DAY, entities=(EntityHint("Penelope"), EntityHint("Acme Corp"))))

    assert any("[Penelope, Acme Corp]" in text for text in shop.embedder.texts)
    terms = {row["term"] for row in shop.rows("SELECT term FROM unit_terms")}
    assert {"penelop", "acm", "corp"} <= terms


def test_a_misspelt_name_is_found_by_both_spellings(shop: Workshop) -> None:
    shop.retain(RetainItem("Kubernetes", timestamp=DAY))

    shop.retain(RetainItem("Kubernets", timestamp=DAY))

    last = shop.rows("SELECT id FROM memory_units WHERE text = 'About Kubernets.'")[0]["id"]
    terms = {row["term"] for row in shop.rows("SELECT term FROM unit_terms WHERE unit_id = %s", last)}
    assert {"kubernet"} <= terms
    assert "About Kubernets. (happened in March 2026) [Kubernetes]" in shop.embedder.texts


def test_r069_without_free_form_names_the_callers_names_stay(shop: Workshop) -> None:
    """[R069]."""
    shop.retain(RetainItem("Oslo", timestamp=DAY))
    shop.change("""UPDATE banks SET config = '{"entities_allow_free_form": false}'""")

    shop.retain(RetainItem("Lima", timestamp=DAY, entities=(EntityHint("Ada"),)))

    assert entities(shop) == {"Ada": 1, "Oslo": 1}


def test_r082_three_hundred_new_names_are_stored_in_time_and_joined(shop: Workshop) -> None:
    """[R082]."""
    names = [f"Project {chr(97 + number % 26) * 7} {number}" for number in range(150)]
    began = time.process_time()

    shop.retain(RetainItem("\n".join([*names, *(name.upper().replace(" ", "-") for name in names)]), timestamp=DAY))

    assert len(entities(shop)) == 150
    assert set(entities(shop).values()) == {2}
    assert time.process_time() - began < 20


def test_a_retry_of_the_same_operation_counts_nothing_twice(shop: Workshop) -> None:
    shop.submit(RetainItem("Kubernetes, Oslo\nKubernets, Oslo", timestamp=DAY))
    (tenant_id, operation_id, _) = shop.wakeups.operations[0]

    for _ in range(2):
        shop.deliver(tenant_id, operation_id)

    assert entities(shop) == {"Kubernetes": 2, "Oslo": 2}
