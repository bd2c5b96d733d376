"""Text files: which encoding they are in.  Called by reading and by the readers of formats made of text."""

from __future__ import annotations

import codecs
import re
from typing import Final

import charset_normalizer

from hindsight_aws.converters.refusal import Refusal

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Longer marks first where one begins as another."""

_CHARSET: Final = re.compile(r"charset=\s*\"?([\w.:-]+)", re.IGNORECASE)
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS: Final = 0.01
_GUESSED_FROM: Final = 1_000_000


def charset_of(content_type: str) -> str | None:
    """The encoding a content type names, when there is one of that name."""
    found = _CHARSET.search(content_type)
    if found is None:
        return None
    try:
        return codecs.lookup(found[1]).name
    except LookupError:
        return None


def read_text(body: bytes, charset: str | None) -> str:
    """The text, by its mark, by the declared encoding, as UTF-8, or by what it most likely is.  Raises: Refusal."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _checked(body.decode(encoding, errors="replace"))
    for encoding in dict.fromkeys((charset or "utf-8", "utf-8")):
        try:
            return _checked(body.decode(encoding))
        except UnicodeDecodeError:
            continue
    # A sample is enough to guess by, and the guess is slow; its last character may be cut in two.
    guess = charset_normalizer.from_bytes(body[:_GUESSED_FROM]).best()
    if guess is None:
        raise Refusal("is no text, nor of a kind that is read")
    return _checked(body.decode(guess.encoding, errors="replace"))


def _checked(text: str) -> str:
    if len(_CONTROL.findall(text)) > _MOST_CONTROLS * len(text):
        raise Refusal("is no text, nor of a kind that is read")
    return text
