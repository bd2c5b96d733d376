"""Lines on a terminal: headings, tables, wrapped text, at most 100 columns. Called by every act of the demo."""

import textwrap
from collections.abc import Sequence
from typing import Final

WIDTH: Final = 100
_MARGIN: Final = "  "


def heading(number: int, title: str) -> None:
    """Opens an act."""
    print(f"\n{number}  {title}\n{'─' * WIDTH}", flush=True)


def say(text: str, indent: int = 1) -> None:
    """A paragraph."""
    margin = _MARGIN * indent
    print(textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin), flush=True)


def item(label: str, text: str, width: int = 10, indent: int = 1) -> None:
    """A labelled text whose further lines stand under its first."""
    margin = _MARGIN * indent
    first = f"{margin}{label:<{width}} "
    print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)), flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> None:
    """Aligned columns; those in `right` end flush, and the last one is cut where the screen ends."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print(shortened(_MARGIN + "  ".join(cells).rstrip(), WIDTH), flush=True)


def shortened(text: str, width: int) -> str:
    """The text, with an ellipsis where it is too long."""
    return text if len(text) <= width else text[: width - 1] + "…"
