"""Identifiers as distinct types, so that a bank's id cannot be passed for a fact's."""

from __future__ import annotations

import hashlib
from typing import NewType
from uuid import UUID

TenantId = NewType("TenantId", UUID)
BankId = NewType("BankId", UUID)
DocumentId = NewType("DocumentId", UUID)
UnitId = NewType("UnitId", UUID)
EntityId = NewType("EntityId", UUID)
ScopeId = NewType("ScopeId", UUID)
OperationId = NewType("OperationId", UUID)
RunId = NewType("RunId", UUID)


def derived_uuid(*parts: object) -> UUID:
    """The same UUID (version 8, RFC 9562) for the same parts, in order; different parts never run into each other."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    raw = bytearray(digest.digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return UUID(bytes=bytes(raw))
