"""Word documents as Markdown.  Called by reading."""

from __future__ import annotations

from io import BytesIO

import mammoth

from hindsight_aws.converters.web import read_web


def read_word(body: bytes) -> str:
    """Headings, lists, tables and text; pictures are left out."""
    no_pictures = mammoth.images.img_element(lambda _: {})
    html: str = mammoth.convert_to_html(BytesIO(body), convert_image=no_pictures).value
    return read_web(html)
