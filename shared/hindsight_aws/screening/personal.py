"""Finds data about people in text, by common patterns, with a checksum where there is one.

Called through screening/detectors; each function is pure and takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from hindsight_aws.screening.secrets import Span

_LOCAL: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-!#$&'*/=?^`{|}~")
_LONGEST_LOCAL: Final = 64
_AT_DOMAIN = re.compile(r"@(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])")
_FOREIGN_NUMBER = re.compile(r"(?<![0-9A-Za-z_+])(?:\+|00(?=[1-9]))[1-9][\d ().\-/]{6,28}")
_NUMBERS = re.compile(
    r"(?<![0-9A-Za-z_.\-])(?:\(\d{3}\) ?|\d{3}[ .\-])\d{3}[ .\-]\d{4}(?![0-9A-Za-z_\-])"
    r"|(?<![0-9A-Za-z_.\-/])0[1-9]\d{1,3}[ /\-]\d{3,4}[ \-]?\d{3,5}(?![0-9A-Za-z_\-])"
    r"|(?<![0-9A-Za-z_.\-])1[3-9]\d{9}(?![0-9A-Za-z_\-])"
)
_IS_IN_A_WORD = re.compile(r"[A-Za-z_]")
"""What comes next where digits are part of an id rather than a number of their own."""
_GROUP = re.compile(r"\d+")
_CARD = re.compile(
    r"(?<![0-9A-Za-z])(?=([3-6]\d{3}([ \-])\d{4}\2\d{4}\2\d{1,7}(?!\d)|3\d{3}([ \-])\d{6}\3\d{5}(?!\d)"
    r"|[3-6]\d{12,18}(?![0-9A-Za-z])))"
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])[A-Z]{2}\d{2}[A-Z0-9]{11,30}(?![A-Za-z0-9])"
)
_SHORTEST_IBAN: Final = 15
_SOCIAL_SECURITY = re.compile(r"(?<![0-9\-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9\-])")
_DOTTED = re.compile(r"(?<![0-9A-Za-z.])\d{1,3}(?:\.\d{1,3}){3}(?![0-9A-Za-z]|\.\d)")
_COLONED = re.compile(r"(?<![0-9A-Za-z:.])[0-9A-Fa-f:]{3,39}(?![0-9A-Za-z:])")


def emails(text: str) -> Iterator[Span]:
    """Addresses of electronic mail."""
    for domain in _AT_DOMAIN.finditer(text):
        start = domain.start()
        farthest = max(0, start - _LONGEST_LOCAL)
        while start > farthest and text[start - 1] in _LOCAL:
            start -= 1
        while start < domain.start() and not text[start].isalnum():
            start += 1
        if start < domain.start():
            yield start, domain.end()


def phones(text: str) -> Iterator[Span]:
    """Telephone numbers with a country's code, and those written as North America, Germany or China write them."""
    for found in _FOREIGN_NUMBER.finditer(text):
        end = found.start() + _end_of_number(found[0])
        if end > found.start() and not _IS_IN_A_WORD.match(text, end):
            yield found.start(), end
    yield from (found.span() for found in _NUMBERS.finditer(text))


def credit_cards(text: str) -> Iterator[Span]:
    """Numbers of payment cards, grouped as they are printed or not at all, whose check digit is right."""
    yield from (found.span(1) for found in _CARD.finditer(text) if _passes_luhn(found[1]))


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers whose check digits are right."""
    for found in _IBAN.finditer(text):
        candidate = found[0]
        while len(candidate) >= _SHORTEST_IBAN:
            if _passes_mod_97(candidate.replace(" ", "")):
                yield found.start(), found.start() + len(candidate)
                break
            candidate = candidate.rpartition(" ")[0]


def social_security_numbers(text: str) -> Iterator[Span]:
    """Social security numbers of the United States, those that were never given out left aside."""
    yield from (found.span() for found in _SOCIAL_SECURITY.finditer(text))


def ip_addresses(text: str) -> Iterator[Span]:
    """Internet addresses, of version 4 and 6."""
    for pattern in (_DOTTED, _COLONED):
        for found in pattern.finditer(text):
            if _is_address(found[0]):
                yield found.span()


def _end_of_number(text: str) -> int:
    """Where a number ends that begins the text: after the last group within 15 digits; 0 when it is too short."""
    digits, end = 0, 0
    for group in _GROUP.finditer(text):
        digits += len(group[0])
        if digits > 15:
            break
        end = group.end() if digits >= 8 else end
    return end


def _passes_luhn(text: str) -> bool:
    digits = [int(char) for char in reversed(text) if char.isdigit()]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return 13 <= len(digits) <= 19 and (sum(digits[::2]) + doubled) % 10 == 0


def _passes_mod_97(text: str) -> bool:
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _is_address(text: str) -> bool:
    if text.count(":") < 2 and "." not in text:
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
