"""HTML as Markdown, without what a reader of the page would not see.  Called by reading and by word."""

from __future__ import annotations

import re
from typing import Final

from bs4 import BeautifulSoup
from markdownify import MarkdownConverter

_UNSEEN: Final = ("script", "style", "noscript", "template", "svg", "iframe", "object", "head")
_GAP: Final = re.compile(r"\n(?:[ \t]*\n){2,}")


def read_web(body: bytes | str, charset: str | None = None) -> str:
    """The page's text, its title first when it has one."""
    page = BeautifulSoup(body, "html.parser", from_encoding=None if isinstance(body, str) else charset)
    title = page.title.get_text(" ", strip=True) if page.title is not None else ""
    for unseen in page(_UNSEEN):
        unseen.decompose()
    text = MarkdownConverter(heading_style="ATX", strip=["img"], escape_misc=False).convert_soup(page)
    text = _GAP.sub("\n\n", text).strip()
    heading = f"# {title}"
    return text if not title or text.startswith(heading) else f"{heading}\n\n{text}"
