"""Entities: names as facts give them, what they turn out to be, and what makes two names plainly one."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

EntityKind = Literal["regular", "label"]
MatchRule = Literal["exact", "spelling", "words", "likeness"]

LONGEST_NAME: Final = 512
_DOTTED_I: Final = "i\u0307"


@dataclass(frozen=True, slots=True)
class EntityName:
    """A name as a fact gives it.

    A literal one means the entity of exactly that name, in whatever case; a label is a `key:value` of the bank's
    vocabulary, and always literal.
    """

    text: str
    kind: EntityKind = "regular"
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """The entity that a name stands for: `name` is the entity's own, `spelling` the one that was given.

    `rule` says why: its own name (`exact`), a spelling it was known by (`spelling`), the same words otherwise written
    (`words`), or the score of `likeness`.  `words` and `keys` are what later names find it by.
    """

    name: str
    kind: EntityKind
    spelling: str
    rule: MatchRule = "exact"
    score: float = 1.0
    words: str = ""
    keys: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What makes the entity unique in its bank."""
        return name_key(self.name)


def name_key(name: str) -> str:
    """The form in which names are compared: without regard to case, and to how an accent is encoded.

    Folded here and nowhere else, because a database folds some letters otherwise (the dotted capital I among them).
    """
    folded = unicodedata.normalize("NFC", name).casefold().replace(_DOTTED_I, "i")
    return unicodedata.normalize("NFC", folded)


def tidy_name(text: str) -> str | None:
    """The name on one line with single spaces; None for one that is blank, or too long to be a name."""
    name = " ".join(text.split())
    return name if name and max(len(name), len(name_key(name))) <= LONGEST_NAME else None
