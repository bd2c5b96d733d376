"""How a name is written: its words without signs, and the keys that names have in common when they may be alike.

Pure; used by likeness and resolve.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hindsight_aws.model.entity import name_key
from hindsight_aws.text.stems import Script, script_of

SHORTEST_MISSPELT: Final = 6
_LONGEST_MISSPELT: Final = 32
_MOST_WORDS: Final = 8
_ALPHABETS: Final = frozenset({Script.LATIN, Script.CYRILLIC, Script.GREEK})
_ACCENTED: Final = frozenset({Script.LATIN, Script.GREEK})
_INITIALS: Final = re.compile(r"(?<![\w.])((?:[^\W\d_]\.)+[^\W\d_])(?!\w)\.?")
_APOSTROPHE: Final = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")
_SIGNS: Final = frozenset("+#*")
"""Signs that make another name of a word they follow at once: C and C++, C and C#, Disney and Disney+."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name and its words in order: case-folded, letters and numbers apart, numbers without leading zeros.

    `plain` are the words without accents.  A name of signs alone has no words and is like no other.
    """

    key: str
    words: tuple[str, ...]
    plain: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words as one text: what trigrams are made of."""
        return " ".join(self.words)


@lru_cache(maxsize=8_192)
def spelling_of(name: str) -> Spelling:
    """How the name is written."""
    key = name_key(name)
    words = tuple(_words(name_key(unicodedata.normalize("NFKC", key))))
    return Spelling(key, words, tuple(_plain(word) for word in words))


@lru_cache(maxsize=8_192)
def lookup_keys(spelling: Spelling) -> tuple[int, ...]:
    """Numbers of which two names share one whenever their words are the same but for accents, order or one typo.

    They are hashes of the words in order of the alphabet: all of them, and once for each letter that may be left out
    of a word.  Names that share one need not be alike.
    """
    plain = spelling.plain
    if not plain:
        return ()
    texts = {_ordered(plain)}
    if len(plain) <= _MOST_WORDS:
        for place, word in enumerate(plain):
            if may_be_misspelt(word):
                rest = plain[:place] + plain[place + 1 :]
                texts.update(_ordered((*rest, shorter)) for shorter in _with_a_letter_less(word))
    return tuple(sorted(_number(text) for text in texts))


def whole_key(spelling: Spelling) -> tuple[int, ...]:
    """The one of its lookup keys that is made of all its words; none for a name without words."""
    return (_number(_ordered(spelling.plain)),) if spelling.plain else ()


def may_be_misspelt(word: str) -> bool:
    """Whether another spelling of the word may be a typo: a long word of letters, in a script that has an alphabet."""
    if not SHORTEST_MISSPELT <= len(word) <= _LONGEST_MISSPELT or not word.isalpha():
        return False
    return word.isascii() or all(script_of(char) in _ALPHABETS for char in word)


def _words(text: str) -> Iterator[str]:
    text = _APOSTROPHE.sub("", _INITIALS.sub(lambda found: found[1].replace(".", ""), text))
    word, before = "", ""
    for place, char in enumerate(text):
        kind = _kind(text, place)
        if kind == before and kind:
            word += char
        elif kind == "sign" and word:
            word += char
            continue
        else:
            if word:
                yield _number_or_word(word)
            word = char if kind in ("letter", "digit") else ""
        before = kind
    if word:
        yield _number_or_word(word)


def _kind(text: str, place: int) -> str:
    char = text[place]
    category = unicodedata.category(char)
    if category == "Nd":
        return "digit"
    if category[0] in "LM" or category in ("Nl", "No"):
        return "letter"
    if char == "." and place and text[place - 1].isdecimal() and text[place + 1 : place + 2].isdecimal():
        return "digit"
    return "sign" if char in _SIGNS else ""


def _number_or_word(word: str) -> str:
    if not word[0].isdecimal():
        return word
    number = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in word)
    whole = number.lstrip("0")
    number = whole if whole[:1].isdigit() else f"0{whole}"
    return number.removesuffix(".0") if number.count(".") == 1 else number


def _plain(word: str) -> str:
    """The word without the accents of scripts in which an accent does not make another letter."""
    if word.isascii():
        return word
    kept: list[str] = []
    base = Script.OTHER
    for char in unicodedata.normalize("NFD", word):
        if not unicodedata.combining(char):
            base = script_of(char)
        elif base in _ACCENTED:
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def _ordered(words: Iterable[str]) -> str:
    return " ".join(sorted(words))


def _with_a_letter_less(word: str) -> Iterator[str]:
    """The word without one of its inner letters: first and last letter never differ by a typo."""
    return (word[:place] + word[place + 1 :] for place in range(1, len(word) - 1))


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), signed=True)
