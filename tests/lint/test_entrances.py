"""What a newcomer meets first: the make targets, the setup scripts, the documents and their links."""

import re
from pathlib import Path

import pytest

from tests.lint.repository import ROOT


def test_setup_scripts_can_be_run() -> None:
    scripts = [path for path in (ROOT / ".ci").iterdir() if path.is_file()]

    not_executable = [path.name for path in scripts if not path.stat().st_mode & 0o111]

    assert {path.name for path in scripts} >= {"run", "install", "lock"}
    assert not_executable == []


def test_every_make_target_explains_itself() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)

    explained = set(re.findall(r"^([a-z-]+):.*## .+$", makefile, re.MULTILINE))

    assert phony is not None
    assert explained == set(phony[1].split())


def test_documents_link_only_to_files_that_exist() -> None:
    broken = [
        f"{document.relative_to(ROOT)}: {target}"
        for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", document.read_text(encoding="utf-8"))
        if not (document.parent / Path(target)).exists()
    ]

    assert broken == []


def test_every_guarantee_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    promises = re.split(r"^## (G\d+)$", page, flags=re.MULTILINE)[1:]

    named: dict[str, list[tuple[str, str]]] = {}
    for promise, text in zip(promises[::2], promises[1::2], strict=True):
        file = ""
        for found in re.findall(r"^ *- `(\S+)`$", text, re.MULTILINE):
            if found.endswith(".py"):
                file = found
            else:
                named.setdefault(promise, []).append((file, found))
    missing = [
        f"{promise}: {file}::{test}"
        for promise, tests in named.items()
        for file, test in tests
        if not re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert list(named) == [f"G{number}" for number in range(1, 13)]
    assert missing == []


@pytest.mark.parametrize(
    ("letter", "last", "not_built"), [("R", 133, ()), ("C", 150, ()), ("Q", 82, (78,)), ("X", 89, ())]
)
def test_every_case_is_held_by_tests_that_exist(letter: str, last: int, not_built: tuple[int, ...]) -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| ({letter}\d{{3}}) \| `(\S+)` \| (.+) \|$", page, re.MULTILINE)

    missing = [
        f"{case}: {file}::{test}"
        for case, file, tests in rows
        for test in re.findall(r"`(\w+)`", tests)
        if not re.search(rf"^ *def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]

    wanted = [f"{letter}{number:03}" for number in range(1, last + 1) if number not in not_built]
    assert sorted({case for case, _, _ in rows}) == wanted
    assert missing == []
