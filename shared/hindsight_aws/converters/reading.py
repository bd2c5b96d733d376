"""Finds out what a file is, by its bytes before its name, and has it read.  Called by the child; calls the readers."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from hindsight_aws.converters.refusal import PROTECTED, Refusal

_PDF_MARK: Final = b"%PDF-"
_PDF_MARK_WITHIN: Final = 1024
_ZIP_MARK: Final = b"PK\x03\x04"
_OLD_OFFICE_MARK: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_RTF_MARK: Final = b"{\\rtf"
_WEB_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})
_WEB_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TABLE_NAMES: Final = frozenset({".csv", ".tsv", ".tab"})
_TABLE_TYPES: Final = frozenset({"text/csv", "text/tab-separated-values"})
_MARKED: Final = frozenset({".pdf", ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm"})
READABLE: Final = "text, Markdown, HTML, PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx) and CSV"


def read(name: str, content_type: str, body: bytes) -> str:
    """The file's text.  Raises: Refusal; and what a library raises for a file that is damaged."""
    if _PDF_MARK in body[:_PDF_MARK_WITHIN]:
        from hindsight_aws.converters.pdf import read_pdf

        return read_pdf(body)
    if body.startswith(_ZIP_MARK):
        return _packed(body)
    if body.startswith(_OLD_OFFICE_MARK):
        is_protected = _ENCRYPTED_PACKAGE in body
        raise Refusal(PROTECTED if is_protected else "is in an old format of Office: save it as .docx, .pptx or .xlsx")
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in _MARKED:
        raise Refusal(f"is damaged: it is no {suffix} file")
    if body.startswith(_RTF_MARK):
        raise Refusal(f"is of a kind that is not read; {READABLE} are")
    return _written(suffix, content_type, body)


def _packed(body: bytes) -> str:
    from hindsight_aws.converters.office import parts_of

    parts = parts_of(body)
    if "word/document.xml" in parts:
        from hindsight_aws.converters.word import read_word

        return read_word(body)
    if "ppt/presentation.xml" in parts:
        from hindsight_aws.converters.slides import read_slides

        return read_slides(body)
    if "xl/workbook.xml" in parts:
        from hindsight_aws.converters.sheets import read_sheets

        return read_sheets(body)
    raise Refusal(f"is of a kind that is not read; {READABLE} are")


def _written(suffix: str, content_type: str, body: bytes) -> str:
    from hindsight_aws.converters.plain import charset_of, read_text

    kind, charset = content_type.partition(";")[0].strip(), charset_of(content_type)
    if suffix in _WEB_NAMES or kind in _WEB_TYPES:
        from hindsight_aws.converters.web import read_web

        return read_web(body, charset)
    text = read_text(body, charset)
    if suffix in _TABLE_NAMES or kind in _TABLE_TYPES:
        from hindsight_aws.converters.table import read_csv

        return read_csv(text)
    return text
