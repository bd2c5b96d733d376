"""Sentences and questions of a made-up world, drawn from a seeded generator."""

from __future__ import annotations

import random
from typing import Final

_FIRST: Final = (
    "Aldo Berit Cosmo Dalia Edda Fabio Gerda Hamid Iska Jorun Kalle Lotte Milo Nuria Odil Petra Quirin Runa".split()
)
_LAST: Final = (
    "Ahlberg Brandl Cordes Dupre Engel Fonti Gallo Hasek Imhof Jager Kranz Lindt Moser Nagy Orlov Pirelli".split()
)
_PLACES: Final = (
    "Aarhus Bath Cadiz Delft Exeter Ferrara Ghent Haarlem Ipswich Jena Kassel Leuven Malmo Namur Odense".split()
)
_FIRMS: Final = "Amberly Bluestone Corvina Dunmore Elmsford Fairgate Glenholm Hartwell Ivywood Juniper".split()
_WARES: Final = (
    "a lathe,a loom,a kiln,a cello,a rowing boat,a press,a kettle drum,a field radio,a trailer,a beehive".split(",")
)
_CRAFTS: Final = "bookbinding,glass blowing,map making,tidal power,choir singing,grafting,clock repair,falconry".split(
    ","
)
_SAYINGS: Final = (
    "{who} took a post at {firm} in {place} in {year} to teach {craft}.",
    "{who} lent {ware} to {other} for {count} days.",
    "{who} and {other} open a workshop for {craft} in {place}.",
    "{who} paid {firm} {count} euros for {ware}.",
    "{who} reads about {craft} every evening with {other}.",
    "{other} met {who} on the night train to {place} in {year}.",
    "{firm} moved its store of {ware} from {place} after {count} complaints.",
    "{who} gave up {craft} in {year} and bought {ware} from {other}.",
)
_QUESTIONS: Final = (
    "What does {who} know about {craft}?",
    "Who lent {ware}?",
    "What happened in {place} in {year}?",
    "Whom did {who} meet?",
    "What did {firm} sell?",
)


class Corpus:
    """An endless source; equal seeds give equal texts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def fact(self) -> str:
        """One sentence."""
        return self._filled(_SAYINGS)

    def question(self) -> str:
        """One question."""
        return self._filled(_QUESTIONS)

    def facts(self, count: int, repeated: float) -> list[str]:
        """Sentences of which a share says an earlier one again in almost the same words."""
        told: list[str] = []
        while len(told) < count:
            if told and self._random.random() < repeated:
                words = self._random.choice(told).split()
                words[self._random.randrange(len(words))] += "s"
                told.append(" ".join(words))
            else:
                told.append(self.fact())
        return told

    def _filled(self, forms: tuple[str, ...]) -> str:
        pick = self._random.choice
        return pick(forms).format(
            who=f"{pick(_FIRST)} {pick(_LAST)}",
            other=f"{pick(_FIRST)} {pick(_LAST)}",
            place=pick(_PLACES),
            firm=pick(_FIRMS),
            ware=pick(_WARES),
            craft=pick(_CRAFTS),
            year=self._random.randint(1990, 2030),
            count=self._random.randint(2, 99),
        )
