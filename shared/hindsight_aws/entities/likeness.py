"""How alike two names are: what may differ between spellings of one name.  Pure and symmetric; used by resolve."""

from __future__ import annotations

from collections import Counter

from hindsight_aws.entities.spelling import Spelling, may_be_misspelt


def likeness(left: Spelling, right: Spelling) -> float | None:
    """How much of two spellings is the same, above 0 to 1; None for names that must never be taken for one another.

    They may differ in the order of their words where none is a number, in accents that one of them leaves out
    altogether, or by one letter inside one long word that begins and ends alike: a number, a short word, another
    initial or another ending make another name.  The measure is the sequence ratio: twice the letters in common over
    all letters.
    """
    if not left.words or not right.words:
        return 1.0 if left.key == right.key else None
    ours, theirs = _apart(left.plain, right.plain), _apart(right.plain, left.plain)
    if not ours and not theirs:
        return 1.0 if _same_but_for_accents(left, right) else None
    if len(ours) != 1 or len(theirs) != 1 or _elsewhere(left, ours[0]) != _elsewhere(right, theirs[0]):
        return None
    if not _is_typo(ours[0], theirs[0]):
        return None
    lengths = sorted((len(left.text), len(right.text)))
    common = lengths[0] if lengths[0] < lengths[1] else lengths[0] - 1
    return 2 * common / sum(lengths)


def _same_but_for_accents(left: Spelling, right: Spelling) -> bool:
    if left.plain != right.plain and any(word[0].isdecimal() for word in left.plain):
        return False
    ours, theirs = _apart(left.words, right.words), _apart(right.words, left.words)
    return all(word in left.plain for word in ours) or all(word in right.plain for word in theirs)


def _apart(words: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """The words that the others do not have, as often as they lack them."""
    return [] if words == others else list((Counter(words) - Counter(others)).elements())


def _elsewhere(spelling: Spelling, word: str) -> tuple[int, tuple[str, ...]]:
    """Where the word stands, and the words around it."""
    place = spelling.plain.index(word)
    return place, spelling.plain[:place] + spelling.plain[place + 1 :]


def _is_typo(left: str, right: str) -> bool:
    """Whether one letter inside the one word, changed or left out, makes the other."""
    if not may_be_misspelt(left) or not may_be_misspelt(right) or (left[0], left[-1]) != (right[0], right[-1]):
        return False
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) > 1:
        return False
    same = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[same + (len(short) == len(long)) :] == long[same + 1 :]
