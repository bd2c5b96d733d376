"""API key tokens: 256 random bits that only their holder keeps; the database has their SHA-256."""

from __future__ import annotations

import hashlib
import secrets

TOKEN_PREFIX = "hsk_"  # noqa: S105  # a public marker, for people and secret scanners
_LONGEST_TOKEN = 512


def new_token() -> str:
    """A token nobody has yet: 43 characters of 256 random bits behind the marker."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """What is stored of a token and looked up by.  A plain digest is enough for 256 random bits, and costs no time."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def token_in(authorization: str | None) -> str | None:
    """The token of an Authorization header: `Bearer <token>` in any case, or the bare token; None without one."""
    text = (authorization or "").strip()
    if text[:7].lower() == "bearer ":
        text = text[7:].strip()
    return text if text and text.lower() != "bearer" and len(text) <= _LONGEST_TOKEN else None
