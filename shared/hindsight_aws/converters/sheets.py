"""Excel workbooks as Markdown tables, one for each sheet.  Called by reading."""

from __future__ import annotations

from datetime import date, datetime, time
from io import BytesIO

from openpyxl import load_workbook

from hindsight_aws.converters.table import render


def read_sheets(body: bytes) -> str:
    """The values as they were last computed, under the sheets' names; sheets without any are left out."""
    workbook = load_workbook(BytesIO(body), read_only=True, data_only=True, keep_links=False)
    tables: list[str] = []
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # what a sheet says of its size may be a lie
        table = render([_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
        if table:
            tables.append(f"## {sheet.title}\n\n{table}")
    return "\n\n".join(tables)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
