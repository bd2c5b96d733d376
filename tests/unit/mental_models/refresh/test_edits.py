"""Edits of a page: read strictly, applied one by one, and never to the document they were given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.mental_models.refresh.document import PageDocument, render, split
from hindsight_aws.mental_models.refresh.edits import REMOVALS, apply, read_edits
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from tests.unit.mental_models.refresh.test_document import MARKDOWN

PAGE = split("Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\n# Trees\n\nOak.\n")
ROSES, TULIPS = (block.id for block in PAGE.sections[1].blocks)
OAK = PAGE.sections[2].blocks[0].id


def _block(section: str, op: str, **fields: JsonValue) -> JsonObject:
    return {"op": op, "section_id": section, **fields}


VALID: dict[str, tuple[JsonObject, str]] = {
    "append_block": (
        _block("plants", "append_block", text="Lilies."),
        "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\nLilies.\n\n# Trees\n\nOak.\n",
    ),
    "insert_block first": (
        _block("plants", "insert_block", after_block_id=None, text="All:"),
        "Intro.\n\n# Plants\n\nAll:\n\nRoses.\n\nTulips.\n\n# Trees\n\nOak.\n",
    ),
    "insert_block after": (
        _block("plants", "insert_block", after_block_id=ROSES, text="Lilies."),
        "Intro.\n\n# Plants\n\nRoses.\n\nLilies.\n\nTulips.\n\n# Trees\n\nOak.\n",
    ),
    "replace_block": (
        _block("plants", "replace_block", block_id=ROSES, text="Red roses."),
        "Intro.\n\n# Plants\n\nRed roses.\n\nTulips.\n\n# Trees\n\nOak.\n",
    ),
    "remove_block": (
        _block("plants", "remove_block", block_id=TULIPS),
        "Intro.\n\n# Plants\n\nRoses.\n\n# Trees\n\nOak.\n",
    ),
    "add_section by id": (
        {"op": "add_section", "heading": "Bees", "level": 2, "blocks": ["Busy."], "after_section_id": "plants"},
        "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\n## Bees\n\nBusy.\n\n# Trees\n\nOak.\n",
    ),
    "add_section by heading": (
        {"op": "add_section", "heading": "Bees", "level": 1, "blocks": ["Busy."], "after_section_id": "Plants"},
        "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\n# Bees\n\nBusy.\n\n# Trees\n\nOak.\n",
    ),
    "remove_section": (_block("trees", "remove_section"), "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n"),
    "replace_section_blocks": (
        _block("trees", "replace_section_blocks", blocks=["Ash.", "Elm."]),
        "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\n# Trees\n\nAsh.\n\nElm.\n",
    ),
    "rename_section": (
        _block("trees", "rename_section", heading="Old trees"),
        "Intro.\n\n# Plants\n\nRoses.\n\nTulips.\n\n# Old trees\n\nOak.\n",
    ),
}
SKIPPED: dict[str, tuple[JsonObject, str]] = {
    "unknown section": (_block("bees", "append_block", text="x"), "no section"),
    "unknown block": (_block("plants", "remove_block", block_id="b00000000"), "no block"),
    "foreign block": (_block("plants", "remove_block", block_id=OAK), "another section"),
    "empty text": (_block("plants", "append_block", text=" \n"), "empty"),
    "heading for a section": (_block("Plants", "append_block", text="x"), "no section"),
    "heading in a block": (_block("plants", "append_block", text="# New\n\nx"), "add_section"),
    "empty heading": (_block("plants", "rename_section", heading=" "), "heading is empty"),
    "no blocks": (_block("plants", "replace_section_blocks", blocks=[]), "no blocks"),
    "unknown anchor": (
        {"op": "add_section", "heading": "h", "level": 1, "blocks": ["x"], "after_section_id": "Bees"},
        "no section",
    ),
    "preamble has no heading": (_block("preamble", "rename_section", heading="Start"), "no heading"),
}
MALFORMED: dict[str, JsonValue] = {
    "no list": {"operations": "none"},
    "another field": {"operations": [], "why": "x"},
    "not an object": {"operations": ["append"]},
    "unknown op": {"operations": [{"op": "burn"}]},
    "missing field": {"operations": [{"op": "append_block", "section_id": "plants"}]},
    "unknown field": {"operations": [{"op": "remove_section", "section_id": "plants", "reason": "x"}]},
    "wrong type": {"operations": [{"op": "append_block", "section_id": "plants", "text": 1}]},
    "deep heading": {"operations": [{"op": "add_section", "heading": "h", "level": 7, "blocks": ["x"]}]},
    "too many": {"operations": [{"op": "remove_section", "section_id": "x"}] * 201},
}


@pytest.mark.parametrize("name", VALID)
def test_a_valid_edit_changes_what_it_names(name: str) -> None:
    """[X063] Each edit with valid ids."""
    edit, expected = VALID[name]
    before = PAGE

    edits, problems = read_edits({"operations": [edit]})
    edited = apply(PAGE, edits)

    assert problems == []
    assert edited.skipped == ()
    assert render(edited.document) == expected
    assert before == PAGE
    assert render(PAGE).count("Tulips.") == 1


@pytest.mark.parametrize("name", SKIPPED)
def test_an_edit_that_names_what_is_not_there_is_left_out_with_its_reason(name: str) -> None:
    """[X063] Each edit with unknown or foreign ids."""
    edit, reason = SKIPPED[name]

    edited = apply(PAGE, [edit])

    assert edited.document == PAGE
    assert edited.applied == ()
    assert reason in str(edited.skipped[0]["reason"])


@pytest.mark.parametrize("name", MALFORMED)
def test_one_malformed_edit_refuses_the_whole_list(name: str) -> None:
    reply = MALFORMED[name]
    assert isinstance(reply, dict)

    edits, problems = read_edits(reply)

    assert edits == []
    assert problems != []


def test_a_retraction_may_only_take_away() -> None:
    edits, problems = read_edits({"operations": [_block("plants", "append_block", text="x")]}, REMOVALS)

    assert edits == []
    assert "remove_block" in problems[0]


def test_a_block_keeps_its_id_when_its_text_is_replaced() -> None:
    edited = apply(PAGE, [_block("plants", "replace_block", block_id=ROSES, text="New.\n\nSecond.")])

    assert [block.text for block in edited.document.sections[1].blocks] == ["New.", "Second.", "Tulips."]
    assert edited.document.sections[1].blocks[0].id == ROSES


@pytest.mark.parametrize("op", ["append_block", "insert_block"])
def test_a_row_after_a_table_joins_the_table(op: str) -> None:
    """[X064] `| a | b |` appended after a table is merged into the table's block."""
    page = split("# T\n\n| x | y |\n| --- | --- |\n| 1 | 2 |")
    after: dict[str, JsonValue] = {"after_block_id": page.sections[0].blocks[0].id} if op == "insert_block" else {}

    edited = apply(page, [_block("t", op, text="| a | b |\n", **after)])

    assert [block.text for block in edited.document.sections[0].blocks] == [
        "| x | y |\n| --- | --- |\n| 1 | 2 |\n| a | b |"
    ]
    assert edited.document.sections[0].blocks[0].id == page.sections[0].blocks[0].id


def test_a_table_of_its_own_stays_apart() -> None:
    page = split("# T\n\n| x | y |\n| --- | --- |\n| 1 | 2 |")

    edited = apply(page, [_block("t", "append_block", text="| p | q |\n| --- | --- |\n| 3 | 4 |")])

    assert len(edited.document.sections[0].blocks) == 2


@st.composite
def _edits(draw: st.DrawFn, document: PageDocument) -> list[JsonObject]:
    sections = st.sampled_from([section.id for section in document.sections] + ["nowhere"])
    blocks = st.sampled_from([*sorted(document.block_ids), "b0"])
    text = MARKDOWN
    in_section: dict[str, st.SearchStrategy[Any]] = {"section_id": sections}
    fields: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "append_block": {**in_section, "text": text},
        "insert_block": {**in_section, "after_block_id": blocks, "text": text},
        "replace_block": {**in_section, "block_id": blocks, "text": text},
        "remove_block": {**in_section, "block_id": blocks},
        "remove_section": in_section,
        "rename_section": {**in_section, "heading": text},
        "replace_section_blocks": {**in_section, "blocks": st.lists(text, max_size=2)},
        "add_section": {"heading": text, "level": st.integers(1, 6), "blocks": st.lists(text, max_size=2)},
    }
    kinds = st.one_of([st.fixed_dictionaries({"op": st.just(op), **rest}) for op, rest in fields.items()])
    drawn: list[JsonObject] = draw(st.lists(kinds, max_size=6))
    return drawn


@given(st.data(), MARKDOWN)
def test_whatever_the_edits_the_page_stays_sound(data: st.DataObject, text: str) -> None:
    """[X063] No edit changes its input; ids stay unique; what results renders, splits and renders to the same text."""
    document = split(text)
    kept = render(document)
    edits = data.draw(_edits(document))

    edited = apply(document, edits)

    blocks = [block.id for section in edited.document.sections for block in section.blocks]
    assert render(document) == kept
    assert len(edited.applied) + len(edited.skipped) == len(edits)
    assert len(set(blocks)) == len(blocks)
    assert len({section.id for section in edited.document.sections}) == len(edited.document.sections)
    assert render(split(render(edited.document))) == render(edited.document)
