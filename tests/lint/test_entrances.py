"""What a newcomer meets first: the make targets, the setup scripts, the documents and their links."""

import re
from pathlib import Path

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
