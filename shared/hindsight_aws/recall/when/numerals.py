"""Numbers, ordinals and decades in words, of the languages of the lexicon.  Read by lexicon.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_UNITS: Final = (
    (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ),
    (
        "uno|una|un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
        "diecisiete dieciocho diecinueve veinte veintiuno|veintiún veintidós veintitrés veinticuatro "
        "veinticinco"
    ),
    (
        "un|une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "dix-sept dix-huit dix-neuf vingt"
    ),
    (
        "ein|eine|einem|einer|einen|eins zwei drei vier fünf|fuenf sechs sieben acht neun zehn elf "
        "zwölf|zwoelf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig einundzwanzig"
    ),
    (
        "un|uno|una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
        "quindici sedici diciassette diciotto diciannove venti ventuno"
    ),
    (
        "um|uma dois|duas três|tres quatro cinco seis sete oito nove dez onze doze treze catorze|quatorze "
        "quinze dezesseis dezessete dezoito dezenove vinte"
    ),
    "een|één twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "один|одну|одна два|две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
)
_TENS: Final = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "vingt trente quarante cinquante soixante soixante-dix quatre-vingts|quatre-vingt quatre-vingt-dix",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
)
_GERMAN_DECADES: Final = "zwanziger dreißiger vierziger fünfziger sechziger siebziger achtziger neunziger"
_ENGLISH_DECADES: Final = "twenties thirties forties fifties sixties seventies eighties nineties"
_ORDINALS: Final = (
    (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
    ),
    "primer|primero|primera segundo|segunda tercer|tercero|tercera cuarto|cuarta quinto|quinta",
    "premier|première deuxième|seconde troisième quatrième cinquième",
    (
        "erste|ersten|erstes|erster zweite|zweiten|zweites|zweiter dritte|dritten|drittes|dritter "
        "vierte|vierten|viertes|vierter fünfte|fünften"
    ),
    "primo|prima secondo|seconda terzo|terza quarto|quarta quinto|quinta",
    "primeiro|primeira segundo|segunda terceiro|terceira quarto|quarta quinto|quinta",
)
_GERMAN_HALVES: Final = ("anderthalb|eineinhalb zweieinhalb dreieinhalb viereinhalb fünfeinhalb",)
_HUNDRED: Final = ("hundred", "one hundred", "a hundred", "cien", "cent", "hundert", "cento", "cem")


def _named(
    kind: str, languages: tuple[str, ...], first: int, step: int = 1
) -> Iterator[tuple[str, tuple[str, int | str]]]:
    for language in languages:
        for place, names in enumerate(language.split()):
            for name in names.split("|"):
                yield name, (kind, first + place * step)


def _compounds() -> Iterator[tuple[str, tuple[str, int | str]]]:
    """English from twenty-one to ninety-nine and its ordinals, with the hyphen or without."""
    ones = list(zip(_UNITS[0].split()[:9], _ORDINALS[0].split()[:9], strict=True))
    for ten, tens in enumerate(_TENS[0].split(), start=2):
        for one, (number, ordinal) in enumerate(ones, start=1):
            for joint in " -":
                yield f"{tens}{joint}{number}", ("number", ten * 10 + one)
                if ten in (2, 3):
                    yield f"{tens}{joint}{ordinal}", ("ordinal", ten * 10 + one)


NUMERALS: Final = (
    *_named("number", _UNITS, 1),
    *_named("number", _TENS, 20, 10),
    *((word, ("number", 100)) for word in _HUNDRED),
    *_compounds(),
    *_named("number", _GERMAN_HALVES, 1),
    *((word, ("with_half", 0)) for halves in _GERMAN_HALVES for word in re.split("[ |]", halves)),
    *_named("ordinal", _ORDINALS, 1),
    *_named("tens", _TENS[1:], 20, 10),
    *_named("decade_word", (_ENGLISH_DECADES,), 1920, 10),
    ("noughties", ("decade_word", 2000)),
    *_named("german_decade", (_GERMAN_DECADES,), 1920, 10),
    *_named("german_decade", (_GERMAN_DECADES.replace("er ", "ern ") + "n",), 1920, 10),
)
"""Words and phrases with what they mean: a number, an ordinal, the ten that names a decade."""
