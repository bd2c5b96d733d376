"""Patterns that callers write, as Postgres reads them.  Used by store/{banks,tags}.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_NOTHING = "(?!.*)"


def like_pattern(pattern: str) -> str:
    """A LIKE pattern for one in which `*` alone stands for any text."""
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%")


def glob_regex(patterns: Iterable[str]) -> str:
    """A regular expression of Postgres for what one of these globs covers, as `fnmatch.fnmatchcase` reads them."""
    return rf"\A(?:{'|'.join(''.join(_parts(pattern)) for pattern in patterns)})\Z"


def _parts(glob: str) -> Iterator[str]:
    at = 0
    while at < len(glob):
        char, at = glob[at], at + 1
        if char == "*":
            yield ".*"
        elif char == "?":
            yield "."
        elif char == "[" and (end := _end_of_set(glob, at)) > 0:
            yield _one_of(glob[at:end])
            at = end + 1
        else:
            yield _literal(char)


def _end_of_set(glob: str, start: int) -> int:
    """Where the `]` stands that closes a set; one that comes first is a member.  -1 when none does."""
    first = start + (glob[start : start + 1] == "!")
    return glob.find("]", first + (glob[first : first + 1] == "]"))


def _one_of(members: str) -> str:
    """One character of a set, or with a `!` before it one outside; a range that ends before it starts holds nothing."""
    negated, rest = members[:1] == "!", members.removeprefix("!")
    held: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
            low, high = rest[at], rest[at + 2]
            held += [f"{_literal(low)}-{_literal(high)}"] if low <= high else []
            at += 3
        else:
            held.append(_literal(rest[at]))
            at += 1
    if not held:
        return "." if negated else _NOTHING
    return f"[{'^' if negated else ''}{''.join(held)}]"


def _literal(char: str) -> str:
    return char if char.isascii() and char.isalnum() else f"\\U{ord(char):08x}"
