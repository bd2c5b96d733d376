"""Receipts of what was erased."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class ErasureSignature(TypedDict):
    """A signature over the digest, and the key that verifies it."""

    key_id: str
    algorithm: str
    value: str


class ErasureResponse(TypedDict):
    """What was erased, counted table by table, with a signature over exactly that statement."""

    state: Literal["running", "objects", "unsigned", "signed"]
    statement: dict[str, object]
    digest: str | None
    signature: ErasureSignature | None
    signed_at: str | None


class ErasuresResponse(TypedDict):
    """One page of receipts, the latest first."""

    items: list[ErasureResponse]
    total: int
    limit: int
    offset: int
