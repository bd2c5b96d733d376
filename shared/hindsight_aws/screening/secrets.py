"""Finds secrets in text: keys, tokens, passwords, each by a pure function over one text.

Called through screening/detectors.  Every pattern takes time in proportion to the text, whatever is in it: its
repeats are bounded or cannot begin inside themselves.  Letters of other scripts end a secret as a blank does.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE" + r" KEY(?: BLOCK)?-----")
_END_OF_KEY = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_ACCESS_KEY = re.compile(r"(?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Z0-9])")
_SECRET_KEY = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR_ITS_ID: Final = 240
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_\-]{20,255}"
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,255}|xapp-[A-Za-z0-9\-]{20,255}"
    r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{24,255}"
    r"|AIza[A-Za-z0-9_\-]{35}|ya29\.[A-Za-z0-9_\-]{20,1024}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_\-]{50,512}|hf_[A-Za-z0-9]{30,64}|dop_v1_[a-f0-9]{64}"
    r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"
    r"|hsk_[A-Za-z0-9_\-]{43}|AGE-SECRET-KEY-1[A-Z0-9]{58}"
    r"|sk-(?=[A-Za-z0-9_\-]{0,40}[0-9])[A-Za-z0-9_\-]{20,255})"
)
_JWT = re.compile(
    r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,8192}\.[A-Za-z0-9_\-]{8,65536}(?:\.[A-Za-z0-9_\-]{0,8192}){0,3}"
)
_BEARER = re.compile(r"(?i:(?<![a-z])(?:bearer|basic))[ \t]{1,4}([A-Za-z0-9._~+/\-]{16,4096}={0,2})")
_URL_PASSWORD = re.compile(
    r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{1,30}://[^\s:/?#@\[\]\"'<>]{0,100}:([^\s/\"'<>]{1,256})@"
)
_NAMES = re.compile(
    r"(?P<password>passphrase|password|passwort|passwd|pwd|contraseña|mot de passe|senha|пароль|密码|密碼|口令"
    r"|パスワード|비밀번호)"
    r"|api[_\- ]?key|access[_\- ]?key|secret[_\- ]?key|account[_\- ]?key|signing[_\- ]?key|client[_\- ]?secret"
    r"|secret|token|credential|密钥|密鑰"
)
_GIVEN = re.compile(
    r"[A-Za-z0-9_\-]{0,24}[\"'`*]{0,3}[ \t]{0,4}"
    r"(?:[:=：＝]{1,2}>?|(?i:(?<![a-z])(?:is|ist|es|est))(?=[ \t])|为|是|は)[ \t]{0,4}[\"'`*]{0,3}"
    r"(?P<value>[^\s\"'`,;<>\[\]{}()*\u0080-\U0010ffff]{6,256})"
)
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_ASCII_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_SHORTEST_KEY: Final = 16
_LEAST_BITS: Final = 3.0
"""Entropy per character from which a long value is a key rather than a word: English prose has some 2.5 a word."""


_OF_ACCESS_KEYS: Final = ("AKIA", "ASIA", "ABIA", "ACCA")
_OF_TOKENS: Final = (
    "gh", "glpat-", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "AIza", "ya29.", "npm_", "pypi-", "hf_", "dop_v1_",
    "shp", "SG.", "hsk_", "AGE-SECRET-KEY-1", "sk-",
)  # fmt: skip
"""What each match holds: to look for plain letters first takes a hundredth of the time."""


def private_keys(text: str) -> Iterator[Span]:
    """Private keys in PEM form; one that is cut off takes the rest of the text with it."""
    at = 0
    while (begin := _PRIVATE_KEY.search(text, at)) is not None:
        end = _END_OF_KEY.search(text, begin.end())
        at = len(text) if end is None else end.end()
        yield begin.start(), at


def aws_access_keys(text: str) -> Iterator[Span]:
    """Ids of AWS access keys, permanent and temporary."""
    if _holds(text, _OF_ACCESS_KEYS):
        yield from (found.span() for found in _ACCESS_KEY.finditer(text))


def aws_secret_keys(text: str) -> Iterator[Span]:
    """What stands close behind the id of an AWS access key and has the form of its secret half."""
    for _, end in aws_access_keys(text):
        found = _SECRET_KEY.search(text, end, end + _NEAR_ITS_ID)
        if found is not None and _is_mixed(found[0]):
            yield found.span()


def service_tokens(text: str) -> Iterator[Span]:
    """Tokens that name the service they open by their first letters."""
    if _holds(text, _OF_TOKENS):
        yield from (found.span() for found in _TOKENS.finditer(text))


def json_web_tokens(text: str) -> Iterator[Span]:
    """JSON web tokens, signed or not."""
    if "eyJ" in text:
        yield from (found.span() for found in _JWT.finditer(text))


def bearer_tokens(text: str) -> Iterator[Span]:
    """What an Authorization header carries behind `Bearer` or `Basic`; without a digit it is a word."""
    if _holds(lowered(text), ("bearer", "basic")):
        yield from (found.span(1) for found in _BEARER.finditer(text) if _has_digit(found[1]))


def url_passwords(text: str) -> Iterator[Span]:
    """The password in the address of a database or a site."""
    if "://" in text:
        yield from (found.span(1) for found in _URL_PASSWORD.finditer(text))


def assigned_secrets(text: str) -> Iterator[Span]:
    """Values that a name such as `api_key` or `password` is given: keys of high entropy, passwords of mixed signs."""
    for name in _NAMES.finditer(lowered(text)):
        given = _GIVEN.match(text, name.end())
        if given is None:
            continue
        value = given["value"].rstrip(".!?:")
        is_secret = _is_password(value) if name["password"] else _is_key(value)
        if is_secret:
            start = given.start("value")
            yield start, start + len(value)


def lowered(text: str) -> str:
    """The text in small letters, each where it stood: a pattern without regard to case takes ten times as long."""
    small = text.lower()
    return small if len(small) == len(text) else text.translate(_ASCII_LOWER)


def _holds(text: str, hints: Iterable[str]) -> bool:
    return any(hint in text for hint in hints)


def _is_password(value: str) -> bool:
    return len(value) >= 6 and _has_digit(value) and _LETTER.search(value) is not None


def _is_key(value: str) -> bool:
    return len(value) >= _SHORTEST_KEY and _has_digit(value) and _bits_per_character(value[:128]) >= _LEAST_BITS


def _bits_per_character(text: str) -> float:
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _is_mixed(text: str) -> bool:
    return _has_digit(text) and any(char.isupper() for char in text) and any(char.islower() for char in text)


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None
