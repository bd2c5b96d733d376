"""A page in sections and blocks: what is taken apart goes together again, whatever Markdown it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.mental_models.refresh.document import from_json, render, split, to_json, written

_LINES = (
    "", "  ", "# Title", "## Plants ##", "###", "text", "more text  ", "- item", "  - nested", "| a | b |",
    "| --- | --- |", "| 1 | 2 |", "```", "```python", "~~~~", "    indented = 1", "> quote", "#no heading",
    "####### seven", "\ttab", "1. one",
)  # fmt: skip
MARKDOWN = st.lists(st.sampled_from(_LINES), max_size=30).map("\n".join)
PAGE = """Before all.

# Garden

| plant | water |
| --- | --- |
| rose | daily |

- outer
  - inner

  still the item

```python
a = 1

# no heading

b = 2
```

A line with a hard break  
and its end.

    indented = code

## Garden

Twice."""  # noqa: W291 - the hard break is what is tested


@given(MARKDOWN)
def test_what_is_rendered_splits_and_renders_to_the_same_text(text: str) -> None:
    """[X065] Render, split, render gives what the first render gave; splitting again changes no section or block."""
    once = render(split(text))

    again = split(once)

    assert render(again) == once
    assert split(render(again)) == again


@given(MARKDOWN)
def test_no_line_with_a_mark_is_lost(text: str) -> None:
    kept = render(split(text)).split("\n")

    marked = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]

    assert [line for line in marked if line not in kept] == []


@given(MARKDOWN)
def test_ids_are_unique_and_the_json_form_gives_the_document_back(text: str) -> None:
    document = split(text)

    sections = [section.id for section in document.sections]
    blocks = [block.id for section in document.sections for block in section.blocks]

    assert len(set(sections)) == len(sections)
    assert len(set(blocks)) == len(blocks)
    assert from_json(to_json(document)) == document


def test_tables_lists_fences_and_breaks_stay_whole() -> None:
    """[X065] The pieces of a page that uses all of Markdown's shapes."""
    document = split(PAGE)

    assert [(section.id, section.level) for section in document.sections] == [
        ("preamble", 0),
        ("garden", 1),
        ("garden-2", 2),
    ]
    garden = [block.text for block in document.sections[1].blocks]
    assert garden[0].count("\n") == 2
    assert garden[3].startswith("```python")
    assert "# no heading" in garden[3]
    assert garden[3].endswith("```")
    assert garden[4] == "A line with a hard break  \nand its end."
    assert garden[5] == "    indented = code"
    assert all(block.id[0] == "b" and len(block.id) == 9 for section in document.sections for block in section.blocks)


@pytest.mark.parametrize("text", ["", "\n\n", "   "])
def test_a_blank_text_is_an_empty_document(text: str) -> None:
    assert split(text).sections == ()
    assert render(split(text)) == ""


def test_headings_inside_a_models_blocks_become_sections() -> None:
    document = written([("Plants", 9, ["One.\n\n## Trees\n\nTwo.", "```\nopen"]), ("  ", 1, ["Three."])])

    assert [(section.heading, section.level) for section in document.sections] == [("Plants", 6), ("Trees", 2)]
    assert [block.text for block in document.sections[1].blocks] == ["Two.", "```\nopen\n```", "Three."]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"sections": 1},
        {"sections": [{"id": "a"}]},
        {"sections": [{"id": "a", "heading": "h", "level": 1, "blocks": ["x"]}]},
    ],
)
def test_a_structure_of_another_shape_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs"):
        from_json(broken)
