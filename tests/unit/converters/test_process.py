"""A conversion runs in a process of its own and within its limits, whatever the file does."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from hindsight_aws.converters import SubprocessConverter, process
from hindsight_aws.errors import FileUnreadable, WorkDeferred
from hindsight_aws.ports.converter import FileToRead
from tests.support import documents

_TEXT = "text/plain"


def converted(name: str, body: bytes, seconds: float = 30.0, memory_mb: int = 1_024) -> str:
    return SubprocessConverter(memory_mb).convert(FileToRead(name, _TEXT, body), seconds)


def test_a_file_comes_out_as_text() -> None:
    assert converted("Grüße.pdf", documents.pdf("A page.")) == "A page."


def test_a_refusal_names_the_file_and_the_reason() -> None:
    with pytest.raises(FileUnreadable, match=r"The file 'plan\.pdf' is protected by a password"):
        converted("plan.pdf", documents.pdf("A page.", password="secret"))


def test_a_reader_that_fails_is_told_as_damage_without_the_files_words() -> None:
    broken = documents.zipped({"xl/workbook.xml": "<secret-word"})

    with pytest.raises(FileUnreadable, match="is damaged") as caught:
        converted("a.xlsx", broken)

    assert "secret-word" not in str(caught.value)


def test_a_page_nested_without_end_is_refused() -> None:
    with pytest.raises(FileUnreadable, match=r"a\.html"):
        converted("a.html", b"<div>" * 20_000)


_PARTS = {
    "docx": "word/document.xml",
    "pptx": "ppt/slides/slide1.xml",
    "xlsx": "xl/worksheets/sheet1.xml",
}


def with_entities(kind: str, declared: str) -> bytes:
    """A file of this kind, one part of which declares entities and uses the one called `x`."""
    sound = {
        "docx": documents.word("WORD"),
        "pptx": documents.slides(("Title", "WORD")),
        "xlsx": documents.sheets({"S": [["WORD"]]}),
    }[kind]
    parts = {}
    with zipfile.ZipFile(BytesIO(sound)) as archive:
        for name in archive.namelist():
            parts[name] = archive.read(name)
    text = parts[_PARTS[kind]].decode().replace("WORD", "[&x;]")
    start = text.index("?>") + 2 if text.startswith("<?xml") else 0
    parts[_PARTS[kind]] = f"{text[:start]}<!DOCTYPE d [{declared}]>{text[start:]}".encode()
    return documents.zipped(parts)


@pytest.mark.parametrize("kind", _PARTS)
def test_no_file_brings_in_another(kind: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not for the file", encoding="utf-8")
    hostile = with_entities(kind, f'<!ENTITY x SYSTEM "{(tmp_path / "secret").as_uri()}">')

    try:
        text = converted(f"a.{kind}", hostile)
    except FileUnreadable as refused:
        text = str(refused)

    assert "not for the file" not in text


@pytest.mark.parametrize("kind", _PARTS)
def test_entities_that_multiply_are_not_multiplied(kind: str) -> None:
    steps = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 9))
    hostile = with_entities(kind, f'<!ENTITY e0 "ha">{steps}<!ENTITY x "&e8;">')

    try:
        text = converted(f"a.{kind}", hostile)
    except FileUnreadable as refused:
        text = str(refused)

    assert len(text) < 1_000


def test_memory_is_bounded() -> None:
    with pytest.raises(FileUnreadable, match="more than 160 MB of memory"):
        converted("a.txt", b"word " * 20_000_000, memory_mb=160)


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LEAST_WORTH_STARTING_S", 0.0)
    slow = documents.zipped({"xl/workbook.xml": "<x/>", "[Content_Types].xml": "<x>" + "<y z='1'/>" * 5_000_000})

    with pytest.raises(FileUnreadable, match=r"takes (too long|longer than)"):
        converted("a.xlsx", slow, seconds=1.0)


def test_more_text_than_retain_takes_is_refused() -> None:
    with pytest.raises(FileUnreadable, match="more than 5 MB of text"):
        converted("a.txt", b"word " * 1_000_001)


def test_with_too_little_time_left_nothing_is_begun() -> None:
    with pytest.raises(WorkDeferred):
        converted("a.txt", b"word", seconds=1.0)


def test_the_child_knows_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")

    assert set(process._environment()) == {"PYTHONPATH", "LANG", "TZ"}
    assert "made-up" in os.environ["AWS_SECRET_ACCESS_KEY"]
