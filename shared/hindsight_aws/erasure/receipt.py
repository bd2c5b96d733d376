"""The receipt of an erasure: what it states, the one form in which that is signed, and its digest.  Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from hindsight_aws.model.erasure import Erasure
from hindsight_aws.model.ids import TenantId

VERSION: Final = 1
REVISIONS: Final = ("document_revisions", "mental_model_revisions", "observation_revisions")
"""Tables whose rows are former states of something."""

Document = Mapping[str, object]


def statement_of(tenant_id: TenantId, erasure: Erasure) -> dict[str, object]:
    """What the receipt states: who had what erased, when, and how much went; no word of what it was."""
    what: dict[str, object] = {"kind": erasure.kind}
    if erasure.kind == "tags":
        what |= {"tags": list(erasure.tags), "match": erasure.match}
    return {
        "version": VERSION,
        "receipt": str(erasure.erasure_id),
        "tenant": str(tenant_id),
        "bank": {"id": erasure.bank, "generation": str(erasure.bank_id)},
        "what": what,
        "by": erasure.subject,
        "started_at": _moment(erasure.started_at),
        "ended_at": None if erasure.ended_at is None else _moment(erasure.ended_at),
        "erased": dict(erasure.erased),
        "blanked": dict(erasure.blanked),
        "revisions": sum(counts.get(table, 0) for counts in (erasure.erased, erasure.blanked) for table in REVISIONS),
        "queues": dict(erasure.queues),
        "objects": erasure.objects,
    }


def canonical(statement: Document) -> bytes:
    """The one form of a statement: keys in order, no spaces, ASCII alone, so that every reader makes the same bytes."""
    return json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest_of(statement: Document) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(statement)).hexdigest()


def document_of(tenant_id: TenantId, erasure: Erasure) -> dict[str, object]:
    """The receipt as callers get it; without a digest while the erasure goes on, without a signature until signed."""
    signature = erasure.signature
    return {
        "state": erasure.state,
        "statement": statement_of(tenant_id, erasure),
        "digest": erasure.digest,
        "signature": None
        if signature is None
        else {"key_id": signature.key_id, "algorithm": signature.algorithm, "value": signature.value},
        "signed_at": None if erasure.signed_at is None else _moment(erasure.signed_at),
    }


def _moment(at: datetime) -> str:
    """A time in the one form that does not follow from who reads the row."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
