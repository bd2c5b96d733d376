"""The table of pitfalls is whole, and what it points to is there."""

from __future__ import annotations

import re
from typing import Final

from tests.lint.repository import ROOT

_PAGE: Final = ROOT / "docs" / "aws-pitfalls.md"
_ROW: Final = re.compile(r"^\| (\d+) \|(.*)\|$", re.MULTILINE)
_PLACE: Final = re.compile(r"`([a-z]+/[^`\s]+)`")
_KNOWN: Final = 55


def _rows() -> list[tuple[int, str]]:
    return [(int(number), cells) for number, cells in _ROW.findall(_PAGE.read_text(encoding="utf-8"))]


def test_every_pitfall_has_one_row() -> None:
    assert sorted(number for number, _ in _rows()) == list(range(1, _KNOWN + 1))


def test_every_row_says_where_and_names_a_test_or_says_that_there_is_none() -> None:
    for number, cells in _rows():
        pitfall, answer, where, test = (cell.strip() for cell in cells.split("|"))

        assert pitfall, number
        assert answer, number
        assert _PLACE.findall(where), number
        assert "tests/" in test or (test == "none" and "*Not in code:*" in answer), number


def test_what_is_named_is_there() -> None:
    for number, cells in _rows():
        for place in _PLACE.findall(cells):
            path, _, name = place.partition("::")

            assert (ROOT / path).exists(), f"pitfall {number} names {path}"
            if name:
                source = (ROOT / path).read_text(encoding="utf-8")
                assert re.search(rf"def {name}\(", source), f"pitfall {number} names {place}"
