"""A docstring's first line is a sentence, whole. Run by `make check` and `make test`."""

import ast
from collections.abc import Iterator

import pytest

from tests.lint.repository import ROOT, repository_files

_ENDS = (".", ":", "?", '"')


def _first_lines(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield node.body[0].lineno, text.splitlines()[0].rstrip()


def _broken(source: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in _first_lines(source) if not line.endswith(_ENDS)]


def test_every_first_line_ends_its_sentence() -> None:
    broken = [
        f"{name}:{number}: {line}"
        for name in repository_files()
        if name.suffix == ".py"
        for number, line in _broken((ROOT / name).read_text("utf-8"))
    ]

    assert broken == []


@pytest.mark.parametrize(
    ("source", "is_broken"),
    [
        ('"""Says it all."""', False),
        ('"""Asks:\n\n- what?\n"""', False),
        ('def f():\n    """Goes on and on, and\n    on.\n    """', True),
        ('class C:\n    """\n    Says it late.\n    """', False),
        ('class C:\n    """no sentence"""', True),
    ],
)
def test_a_sentence_that_goes_on_is_found(source: str, is_broken: bool) -> None:
    assert bool(_broken(source)) is is_broken
