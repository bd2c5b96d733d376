"""The manifest of an archive: which format it has, what it carries, and what each member must be.

Written by writer.py, read by reader.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast, get_args

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.transfer.kinds import BY_MEMBER, Part

NAME: Final = "manifest.json"
FORMAT: Final = "hindsight-aws-bank"
VERSION: Final = 1
DIMENSIONS: Final = 512
"""Numbers of a stored vector, whatever the model gives."""


@dataclass(frozen=True, slots=True)
class Member:
    """What a member must be: so many rows, so many bytes unpacked, with this digest (SHA-256, hex)."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`embedding_model` made the vectors, None where there are none."""

    bank: str
    parts: frozenset[Part]
    embedding_model: str | None
    dimensions: int
    members: Mapping[str, Member] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of all members."""
        return sum(member.rows for member in self.members.values())


def to_bytes(manifest: Manifest, created_at: str) -> bytes:
    """The manifest as it stands in an archive."""
    members: JsonObject = {
        name: {"rows": each.rows, "bytes": each.bytes, "sha256": each.sha256} for name, each in manifest.members.items()
    }
    embedding: JsonObject = {"model": manifest.embedding_model, "dimensions": manifest.dimensions}
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "created_at": created_at,
            "bank": manifest.bank,
            "parts": sorted(manifest.parts),
            "embedding": embedding,
            "members": members,
        },
        indent=1,
    ).encode()


def from_bytes(text: bytes) -> Manifest:
    """What `to_bytes` wrote.  Raises ArchiveRefused."""
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        raise ArchiveRefused("manifest.json is not JSON") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ArchiveRefused(f"the archive is not of the format {FORMAT!r}")
    if found.get("version") != VERSION:
        raise ArchiveRefused(f"the archive is of a version that is not read here, which is {VERSION}")
    try:
        return _manifest(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ArchiveRefused("manifest.json does not say what it must") from None


def _manifest(found: JsonObject) -> Manifest:
    parts, embedding = cast("list[str]", found["parts"]), cast(JsonObject, found["embedding"])
    members = {name: _member(name, cast(JsonObject, each)) for name, each in cast(JsonObject, found["members"]).items()}
    model, bank = embedding["model"], found["bank"]
    if not set(parts) <= set(get_args(Part)) or not isinstance(bank, str) or not isinstance(model, str | None):
        raise ValueError("parts, bank or model")
    return Manifest(
        bank=bank,
        parts=frozenset(cast("list[Part]", parts)),
        embedding_model=model,
        dimensions=_count(embedding["dimensions"]),
        members=members,
    )


def _member(name: str, found: JsonObject) -> Member:
    digest = found["sha256"]
    if name not in BY_MEMBER or not isinstance(digest, str):
        raise ValueError(name)
    return Member(_count(found["rows"]), _count(found["bytes"]), digest)


def _count(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("a count")
    return value
