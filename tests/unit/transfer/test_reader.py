"""An archive is a stranger's: what can be seen of it before a row is read."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.transfer.kinds import BY_MEMBER
from hindsight_aws.transfer.reader import ArchiveReader
from tests.support.archives import empty_archive


def _zip(**entries: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, body in entries.items():
            target.writestr(name.replace("__", "/").replace("_json", ".json"), body)
    return made.getvalue()


_MANIFEST: dict[str, Any] = {
    "format": "hindsight-aws-bank",
    "version": 1,
    "bank": "b",
    "parts": ["data", "whole"],
    "embedding": {"model": None, "dimensions": 512},
    "members": {},
}


def _with(**told: object) -> bytes:
    return _zip(manifest_json=json.dumps(_MANIFEST | told).encode())


_REFUSED = {
    "no zip": (b"PK\x03\x04 but no zip", "not a zip"),
    "nothing": (b"", "not a zip"),
    "no manifest": (_zip(), "no manifest"),
    "another format": (_with(format="hindsight"), "not of the format"),
    "another version": (_with(version=2), "version"),
    "no members": (_with(members=None), "does not say"),
    "a member that is none": (_with(members={"banks.jsonl": {"rows": 0, "bytes": 0, "sha256": ""}}), "does not say"),
    "a member that is missing": (_with(members={"bank.jsonl": {"rows": 0, "bytes": 0, "sha256": ""}}), "are not those"),
    "a count that is none": (_with(members={"bank.jsonl": {"rows": True, "bytes": 0, "sha256": ""}}), "does not say"),
    "a path out": (_zip(**{"..__..__etc__passwd": b"x", "manifest_json": b"{}"}), "no member"),
    "a bomb": (_zip(**{"memories.jsonl": b"\n" * 40_000_000, "manifest_json": b"{}"}), "unpacks to more than"),
    "no JSON": (_zip(manifest_json=b"[" * 100_000), "not JSON"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_is_no_archive_is_refused_with_a_reason(name: str) -> None:
    archive, reason = _REFUSED[name]

    with pytest.raises(ArchiveRefused, match=reason):
        ArchiveReader(io.BytesIO(archive), 1 << 30)


def test_an_archive_that_unpacks_to_more_than_is_allowed_is_refused() -> None:
    with pytest.raises(ArchiveRefused, match="unpacks to more than 0 MB"):
        ArchiveReader(io.BytesIO(empty_archive()), 10)


def test_an_archive_without_members_is_sound() -> None:
    reader = ArchiveReader(io.BytesIO(empty_archive("b")), 1 << 20)
    reader.verify()

    assert (reader.manifest.bank, reader.manifest.rows) == ("b", 0)
    assert [row for kind in BY_MEMBER.values() for row in reader.rows(kind)] == []
