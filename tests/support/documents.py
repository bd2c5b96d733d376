"""Small files of every kind that is read, made here so that no binary of unknown origin lies in the repository."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches
from pypdf import PdfReader, PdfWriter

_WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="word/document.xml" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)


def pdf(*pages: str, password: str | None = None, may_open: bool = False) -> bytes:
    """A PDF with a line of Latin text on each page; with a password, which `may_open` asks only of an owner."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text in pages:
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") if text else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
        objects.append(f"{page}/Resources << /Font << /F1 3 0 R >> >> >>".encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    made = _numbered(objects)
    if password is None:
        return made
    writer = PdfWriter(clone_from=PdfReader(BytesIO(made)))
    writer.encrypt("" if may_open else password, owner_password=password, algorithm="AES-256")
    into = BytesIO()
    writer.write(into)
    return into.getvalue()


def word(*paragraphs: str, heading: str = "") -> bytes:
    """A Word document."""
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    texts = [*([(style, heading)] if heading else []), *(("", each) for each in paragraphs)]
    body = "".join(f"<w:p>{look}<w:r><w:t>{text}</w:t></w:r></w:p>" for look, text in texts)
    document = f'<?xml version="1.0"?><w:document xmlns:w="{_WORD_NAMESPACE}"><w:body>{body}</w:body></w:document>'
    styles = (
        f'<?xml version="1.0"?><w:styles xmlns:w="{_WORD_NAMESPACE}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>'
    )
    parts = {"[Content_Types].xml": _CONTENT_TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document}
    return zipped({**parts, "word/styles.xml": styles})


def slides(*titles_and_texts: tuple[str, str], notes: str = "", table: Sequence[Sequence[str]] = ()) -> bytes:
    """A presentation; notes and table are on its last slide."""
    presentation = Presentation()
    slide = None
    for title, text in titles_and_texts:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    if slide is not None and notes:
        slide.notes_slide.notes_text_frame.text = notes
    if slide is not None and table:
        size = (len(table), len(table[0]), Inches(1), Inches(1), Inches(4), Inches(1))
        cells = slide.shapes.add_table(*size).table
        for down, row in enumerate(table):
            for across, text in enumerate(row):
                cells.cell(down, across).text = text
    into = BytesIO()
    presentation.save(into)
    return into.getvalue()


def sheets(tables: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook."""
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in tables.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    into = BytesIO()
    workbook.save(into)
    return into.getvalue()


def protected_office_file() -> bytes:
    """The outside of an Office file behind a password: as much of it as tells what it is."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(512)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    into = BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return into.getvalue()


def _numbered(objects: Sequence[bytes]) -> bytes:
    made, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(made)
