"""What a model says to the endings of a refresh, in whatever wrapping it comes."""

from __future__ import annotations

import json

import pytest

from hindsight_aws.mental_models.refresh.document import render, split
from hindsight_aws.mental_models.refresh.edits import REMOVALS
from hindsight_aws.mental_models.refresh.reply import NOTHING_APPLIED, check_document, check_edits, read_document
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

SECTION: JsonObject = {"heading": "Plants", "level": 1, "blocks": ["Roses."]}
WHOLE: JsonObject = {"sections": [SECTION]}
PAGE = split("# Plants\n\nRoses.\n")


@pytest.mark.parametrize(
    "said",
    [WHOLE, json.dumps(WHOLE), json.dumps(json.dumps(WHOLE)), SECTION, [SECTION], json.dumps([SECTION])],
    ids=["an object", "JSON in a string", "encoded twice", "a section alone", "a list", "a list in a string"],
)
def test_a_document_is_read_in_every_wrapping(said: JsonValue) -> None:
    """[X039] A string, a double encoding, a bare section, a bare list."""
    found = read_document(said)

    assert found.problems == ()
    assert render(found.document) == "# Plants\n\nRoses.\n"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"sections": [{**SECTION, "blocks": [{"text": "Roses."}]}]}, "document.sections[0].blocks[0]"),
        ({"sections": [{**SECTION, "blocks": "Roses."}]}, "document.sections[0].blocks"),
        ({"sections": [{**SECTION, "level": "1"}]}, "document.sections[0].level"),
        ({"sections": [{**SECTION, "heading": 1}]}, "document.sections[0].heading"),
        ({"sections": ["Roses."]}, "document.sections[0]"),
        ({"sections": {}}, "document.sections"),
        (None, "document.sections"),
        (7, "document.sections"),
    ],
)
def test_what_is_no_document_is_refused_by_its_fields(said: JsonValue, named: str) -> None:
    """[X039] Each wrong field is named, for the one question more."""
    refusal = check_document({"document": said})

    assert refusal is not None
    assert refusal.startswith(named)


@pytest.mark.parametrize("cut", range(1, 40, 4))
def test_json_that_is_cut_off_is_never_mended(cut: int) -> None:
    """[X040] A reply that ended at the output limit."""
    refusal = check_document({"document": json.dumps(WHOLE)[:-cut]})

    assert refusal is not None
    assert "not complete JSON" in refusal


def test_edits_are_checked_against_the_page_they_are_for() -> None:
    append: JsonObject = {"op": "append_block", "section_id": "plants", "text": "Tulips."}
    lost: JsonObject = {**append, "section_id": "bees"}

    assert check_edits({"operations": [append]}, PAGE) is None
    assert check_edits({"operations": []}, PAGE) is None
    assert check_edits({"operations": [append, lost]}, PAGE) is None
    refusal = check_edits({"operations": [lost]}, PAGE)
    assert refusal is not None
    assert refusal.startswith(NOTHING_APPLIED)
    assert "plants: b" in refusal
    assert check_edits({"operations": [append]}, PAGE, REMOVALS) is not None
