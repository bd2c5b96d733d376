"""Every kind of file that is read gives its text; every other is refused with a reason."""

from __future__ import annotations

from datetime import date

import pytest

from hindsight_aws.converters import office, table
from hindsight_aws.converters.reading import read
from hindsight_aws.converters.refusal import Refusal
from tests.support import documents

_OCTETS = "application/octet-stream"
_TABLE = [["Name", "Age"], ["Alice", "41"]]
_AS_MARKDOWN = "| Name | Age |\n| --- | --- |\n| Alice | 41 |"


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        pytest.param("a.txt", b"Alice waters the plants.", "Alice waters the plants.", id="text"),
        pytest.param("a.md", b"# Plants\n\n- fern", "# Plants\n\n- fern", id="Markdown"),
        pytest.param(
            "a.html",
            b"<html><head><title>Plants</title></head><body><h2>Fern</h2><p>It is <b>green</b>.</p></body></html>",
            "# Plants\n\n## Fern\n\nIt is **green**.",
            id="HTML",
        ),
        pytest.param("a.pdf", documents.pdf("First page.", "Second page."), "First page.\n\nSecond page.", id="PDF"),
        pytest.param(
            "a.docx", documents.word("It is green.", heading="Fern"), "# Fern\n\nIt is green.", id="Word document"
        ),
        pytest.param(
            "a.pptx",
            documents.slides(("Fern", "It is green."), notes="Smile.", table=_TABLE),
            f"## Slide 1: Fern\n\nIt is green.\n\n{_AS_MARKDOWN}\n\nNotes: Smile.",
            id="presentation",
        ),
        pytest.param(
            "a.xlsx",
            documents.sheets({"People": [["Name", "Age", "Since"], ["Alice", 41.0, date(2026, 1, 2)]], "Empty": []}),
            "## People\n\n| Name | Age | Since |\n| --- | --- | --- |\n| Alice | 41 | 2026-01-02 |",
            id="workbook",
        ),
        pytest.param("a.csv", b"Name,Age\nAlice,41\n", _AS_MARKDOWN, id="CSV"),
        pytest.param("a.tsv", b"Name\tAge\nAlice\t41\n", _AS_MARKDOWN, id="tabs"),
        pytest.param("a.csv", b"Name;Age\r\nAlice;41\r\n", _AS_MARKDOWN, id="semicolons"),
        pytest.param("a.json", b'{"plant": "fern"}', '{"plant": "fern"}', id="JSON is text"),
    ],
)
def test_a_file_gives_its_text(name: str, body: bytes, text: str) -> None:
    assert read(name, _OCTETS, body) == text


def test_bytes_tell_more_than_a_name() -> None:
    assert read("a.txt", "text/plain", documents.pdf("A page.")) == "A page."


def test_a_content_type_stands_in_for_a_name_without_a_suffix() -> None:
    assert read("page", "text/html", b"<p>A <i>fern</i></p>") == "A *fern*"
    assert read("table", "text/csv; charset=utf-8", b"Name,Age\nAlice,41") == _AS_MARKDOWN


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    assert read("a.txt", "text/plain", "Grüße, 植物".encode(encoding)) == "Grüße, 植物"


def test_a_declared_encoding_is_believed() -> None:
    assert read("a.txt", "text/plain; charset=shift_jis", "植物は緑です".encode("shift_jis")) == "植物は緑です"
    assert read("a.html", "text/html; charset=shift_jis", "<p>植物</p>".encode("shift_jis")) == "植物"


def test_utf8_behind_a_long_ascii_beginning_is_utf8() -> None:
    text = "plain " * 30_000 + "Grüße"

    assert read("a.txt", "text/plain", text.encode()) == text


def test_an_undeclared_old_encoding_is_guessed() -> None:
    text = "Die Grüße der Gärtnerin über die schönen Blüten und Bäume. " * 5

    assert read("a.txt", "text/plain", text.encode("cp1252")) == text


def test_a_table_keeps_its_columns_whatever_stands_in_its_cells() -> None:
    text = read("a.csv", "text/csv", b'a,b\n"x|y","two\nlines"\n,\n')

    assert text == "| a | b |\n| --- | --- |\n| x\\|y | two lines |"


def test_a_page_keeps_what_its_reader_sees_only() -> None:
    page = b"<body><script>alert(1)</script><style>p{}</style><p>Seen<img src=x></p><!-- unseen --></body>"

    assert read("a.html", "text/html", page) == "Seen"


def test_a_pdf_that_only_forbids_copying_is_read_like_any_other() -> None:
    assert read("a.pdf", _OCTETS, documents.pdf("A page.", password="secret", may_open=True)) == "A page."


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        pytest.param("a.pdf", documents.pdf("x", password="secret"), "password", id="[R122] PDF with a password"),
        pytest.param("a.docx", documents.protected_office_file(), "password", id="[R122] Office file with a password"),
        pytest.param("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old format", id="old Office file"),
        pytest.param("a.docx", b"no zip", "no .docx file", id="a name that lies"),
        pytest.param("a.docx", b"PK\x03\x04 and no more", "cannot be unpacked", id="broken zip"),
        pytest.param("a.zip", documents.zipped({"a.txt": "x"}), "not read", id="another archive"),
        pytest.param("a.pdf", b"%PDF-1.4\nno more", "damaged", id="broken PDF"),
        pytest.param("a.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "no text", id="picture"),
        pytest.param("a.rtf", b"{\\rtf1 hello}", "not read", id="rich text"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_reason(name: str, body: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        read(name, _OCTETS, body)


def test_an_archive_that_swells_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MOST_TEXT_UNPACKED", 20_000_000)
    bomb = documents.zipped({"xl/workbook.xml": "<x/>", "xl/worksheets/sheet1.xml": bytes(20_000_001)})

    assert len(bomb) < 100_000
    with pytest.raises(Refusal, match="unpacks to more"):
        read("a.xlsx", _OCTETS, bomb)


def test_a_sheet_of_endless_emptiness_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_CELLS", 20_000)
    rows: list[list[object]] = [[None] * 15_999 + ["x"]] * 2

    with pytest.raises(Refusal, match="more than 20,000 cells"):
        read("a.xlsx", _OCTETS, documents.sheets({"Wide": rows}))
