"""PowerPoint presentations as Markdown: slide by slide, the shapes' text, tables and notes.  Called by reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO

from pptx import Presentation
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from hindsight_aws.converters.table import render


def read_slides(body: bytes) -> str:
    """The text of every slide under its number and title; pictures are left out."""
    slides = Presentation(BytesIO(body)).slides
    return "\n\n".join(text for number, slide in enumerate(slides, 1) if (text := _slide(number, slide)))


def _slide(number: int, slide: Slide) -> str:
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    rest = (shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    blocks = list(_blocks(rest))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        blocks += [f"Notes: {notes}"] if notes else []
    if not heading and not blocks:
        return ""
    return "\n\n".join([f"## Slide {number}{': ' if heading else ''}{heading}", *blocks])


def _blocks(shapes: Iterable[BaseShape]) -> Iterator[str]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _blocks(shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield render([cell.text for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame:
            text = shape.text_frame.text.replace("\v", "\n").strip()  # type: ignore[attr-defined]  # shapes with a text frame have it
            if text:
                yield text
