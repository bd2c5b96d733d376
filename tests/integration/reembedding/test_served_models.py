"""Which model a bank is asked and written with, and what is refused."""

from __future__ import annotations

import pytest

from tests.integration.reembedding.conftest import BANK, NEW, OLD, Desk
from tests.integration.reembedding.test_reembed import TEXTS


def test_a_bank_keeps_its_model_when_the_setting_names_another_for_new_ones(desk: Desk) -> None:
    desk.retain(*TEXTS)
    (edited,) = desk.sql("SELECT id FROM hindsight.memory_units WHERE text LIKE 'Carol%%'")

    desk.use(desk.new)
    desk.retain("Dave paints the shed.")
    desk.call("PATCH", f"{BANK}/memories/{edited['id']}", {"text": "Carol sells the fence."})
    new = "/v1/default/banks/new/memories"
    desk.call("POST", new, {"items": [{"content": "Eve sings."}]})

    assert desk.recall("Dave paints the shed.")[0] == "Dave paints the shed."
    banks = desk.sql("SELECT external_id, embedding_model FROM hindsight.banks ORDER BY 1")
    assert banks == [
        {"external_id": "garden", "embedding_model": OLD},
        {"external_id": "new", "embedding_model": NEW},
    ]
    assert [text.split(".")[0] for text in desk.new.texts] == ["Eve sings"]


def test_a_model_that_is_served_no_more_leaves_words_and_refuses_writes_in_a_sentence(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.use(desk.new)
    desk.new.others.clear()

    refused = desk.call("POST", f"{BANK}/memories", {"items": [{"content": "Dave paints the shed."}]})

    assert desk.recall("hens")[0] == "Bob feeds the hens."
    assert desk.new.texts == []
    assert refused.status == 409
    assert f"made by {OLD}, which this deployment does not serve" in refused.json()["detail"]


def test_a_bank_whose_model_is_served_no_more_can_still_be_embedded_anew(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.use(desk.new)
    desk.new.others.clear()

    desk.ask(None)
    desk.work()

    assert desk.serves() == NEW
    assert desk.recall("Bob feeds the hens.")[0] == "Bob feeds the hens."


def test_asked_for_once_more_it_is_the_same_operation_and_for_another_model_a_conflict(desk: Desk) -> None:
    desk.retain(*TEXTS)
    first = desk.ask()

    again = desk.call("POST", f"{BANK}/reembed", {"model": NEW})
    other = desk.call("POST", f"{BANK}/reembed", {"model": OLD})

    assert (again.status, again.json()["operation_id"], again.json()["deduplicated"]) == (202, first, True)
    assert (other.status, first in other.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("body", "status"), [({"model": "unheard-of"}, 422), ({"model": ""}, 422), ({"model": 1}, 422)]
)
def test_a_model_that_is_not_served_is_refused_by_its_field(desk: Desk, body: object, status: int) -> None:
    desk.retain(*TEXTS)

    refused = desk.call("POST", f"{BANK}/reembed", body)

    assert refused.status == status
    assert refused.json()["detail"][0]["loc"] == ["body", "model"]
    assert desk.sql("SELECT count(*) AS asked FROM hindsight.operations WHERE kind = 'reembed'") == [{"asked": 0}]


@pytest.mark.parametrize("name", ["embedding_model", "Model"])
def test_an_unknown_field_that_seems_to_name_the_model_is_refused_and_any_other_is_told_of(
    desk: Desk, name: str
) -> None:
    desk.retain(*TEXTS)

    refused = desk.call("POST", f"{BANK}/reembed", {name: NEW})
    told = desk.call("POST", f"{BANK}/reembed", {"model": NEW, "urgent": True})

    assert refused.status == 422
    assert f"{name} is no field of this call" in refused.json()["detail"][0]["msg"]
    assert (told.status, told.headers.get("x-ignored-params")) == (202, "urgent")


def test_a_bank_that_is_too_large_is_refused_and_told_the_other_way(desk: Desk) -> None:
    desk.retain(*TEXTS)
    desk.configure(hindsight_reembed_max_vectors=2)

    refused = desk.call("POST", f"{BANK}/reembed", {"model": NEW})

    assert refused.status == 409
    assert "export it and restore it" in refused.json()["detail"]
