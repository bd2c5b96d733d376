"""The stem of a word by the stemmer of its script.  Called by text/terms.py; calls the Snowball stemmers.

A script stands for a language: without a model, telling the Latin-written languages apart in one short fact is a
guess, and a wrong guess makes query and fact disagree.  English stemming of a French word is merely timid, and the
same on both sides.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import unicodedata
from collections.abc import Callable
from enum import Enum
from functools import cache
from threading import Lock

_ONE_AT_A_TIME = Lock()
"""A stemmer holds the word that it works on, and loading one alone changes what other threads would import."""


class Script(Enum):
    """Writing systems told apart; the value is the Snowball language, None where words are not stemmed."""

    LATIN = "english"
    CYRILLIC = "russian"
    GREEK = "greek"
    ARABIC = "arabic"
    ARMENIAN = "armenian"
    DEVANAGARI = "hindi"
    TAMIL = "tamil"
    COMMON = "common"
    HAN = "han"
    KANA = "kana"
    HANGUL = "hangul"
    THAI = "thai"
    OTHER = "other"


_STEMMED = frozenset(
    {Script.LATIN, Script.CYRILLIC, Script.GREEK, Script.ARABIC, Script.ARMENIAN, Script.DEVANAGARI, Script.TAMIL}
)
# First and last code point; digits and marks are COMMON and join whatever they stand next to.
_RANGES = (
    (0x0041, 0x024F, Script.LATIN),
    (0x0250, 0x02AF, Script.LATIN),
    (0x0300, 0x036F, Script.COMMON),
    (0x0370, 0x03FF, Script.GREEK),
    (0x0400, 0x052F, Script.CYRILLIC),
    (0x0531, 0x0587, Script.ARMENIAN),
    (0x0600, 0x077F, Script.ARABIC),
    (0x0900, 0x097F, Script.DEVANAGARI),
    (0x0B80, 0x0BFF, Script.TAMIL),
    (0x0E00, 0x0EFF, Script.THAI),
    (0x1000, 0x109F, Script.THAI),
    (0x1100, 0x11FF, Script.HANGUL),
    (0x1780, 0x17FF, Script.THAI),
    (0x1E00, 0x1EFF, Script.LATIN),
    (0x1F00, 0x1FFF, Script.GREEK),
    (0x3005, 0x3007, Script.HAN),
    (0x3040, 0x30FF, Script.KANA),
    (0x3130, 0x318F, Script.HANGUL),
    (0x31F0, 0x31FF, Script.KANA),
    (0x3400, 0x9FFF, Script.HAN),
    (0xAC00, 0xD7AF, Script.HANGUL),
    (0xF900, 0xFAFF, Script.HAN),
    (0x20000, 0x3FFFF, Script.HAN),
)


def script_of(char: str) -> Script:
    """The writing system of one character.

    Thai stands for all of the South-East Asian scripts written without spaces.
    """
    if char.isdecimal():
        return Script.COMMON
    point = ord(char)
    for first, last, script in _RANGES:
        if first <= point <= last:
            return script
    return Script.OTHER


def stem(script: Script, word: str) -> str:
    """The stem of a case-folded word: Latin without accents; a word with a digit stays as it is.  Never empty."""
    if script is Script.LATIN and not word.isascii():
        word = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char)) or word
    if script not in _STEMMED or any(char.isdigit() for char in word):
        return word
    with _ONE_AT_A_TIME:
        return _stemmer(script.value)(word) or word


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """The Snowball stemmer of a language, loaded alone.

    The package's own front door loads all 36, 160 ms of a cold start.
    """
    module = _alone("snowballstemmer", f"{language}_stemmer")
    maker = getattr(module, f"{language.title()}Stemmer")
    return maker().stemWord  # type: ignore[no-any-return]  # the package has no types


def _alone(package: str, submodule: str) -> object:
    """A submodule of a package whose own `__init__` is not run for it."""
    name = f"{package}.{submodule}"
    if package in sys.modules:
        return importlib.import_module(name)
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[package]
