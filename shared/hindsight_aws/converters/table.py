"""Rows as a Markdown table, and CSV as rows.  Called by reading and by the readers of Office files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from hindsight_aws.converters.refusal import Refusal

MOST_CELLS: Final = 2_000_000
"""Of one file, empty ones included: a sheet may claim 17 thousand million."""

_LONGEST_FIELD: Final = 5_000_000
_SAMPLE: Final = 16_384


def read_csv(text: str) -> str:
    """The table, its first row as the head.  Raises: Refusal."""
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:_SAMPLE], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        return render(csv.reader(text.splitlines(keepends=True), dialect))
    except csv.Error as damaged:
        raise Refusal(f"is damaged: it cannot be read as CSV ({damaged})") from damaged


def render(rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table as wide as its widest row; rows without any text are left out.  Raises: Refusal."""
    kept = [row for row in _trimmed(rows) if row]
    if not kept:
        return ""
    width = max(len(row) for row in kept)
    lines = [_line([*row, *[""] * (width - len(row))]) for row in kept]
    return "\n".join([lines[0], _line(["---"] * width), *lines[1:]])


def _trimmed(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    seen = 0
    for row in rows:
        seen += 1 + len(row)
        if seen > MOST_CELLS:
            raise Refusal(f"has more than {MOST_CELLS:,} cells")
        cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
