"""Writes an archive, member by member, in little memory.  Called by export.py."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import IO, Self

from hindsight_aws.errors import TooLarge
from hindsight_aws.transfer import manifest as manifests
from hindsight_aws.transfer.kinds import Kind
from hindsight_aws.transfer.manifest import Manifest, Member


@dataclass(slots=True)
class ArchiveWriter:
    """A zip in the making in `file`, of `at_most` bytes; let go of when its block ends, whole or not.

    Raises: TooLarge once it has more.
    """

    file: IO[bytes]
    at_most: int
    members: dict[str, Member] = field(default_factory=dict)
    _zip: zipfile.ZipFile = field(init=False)

    def __post_init__(self) -> None:
        self._zip = zipfile.ZipFile(self.file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        # A zip that is dropped unclosed would still write to its file, which is gone by then.
        self._zip.close()

    def add(self, kind: Kind, lines: Iterable[str]) -> None:
        """A member of these lines; none, when there are no lines."""
        rows, size, digest = 0, 0, hashlib.sha256()
        found = iter(lines)
        first = next(found, None)
        if first is None:
            return
        with self._zip.open(kind.member, "w", force_zip64=True) as member:
            for line in _with_first(first, found):
                data = line.encode() + b"\n"
                member.write(data)
                digest.update(data)
                rows, size = rows + 1, size + len(data)
                if rows % 100 == 0:
                    self._check()
        self.members[kind.member] = Member(rows, size, digest.hexdigest())
        self._check()

    def close(self, manifest: Manifest, created_at: str) -> Manifest:
        """Ends the archive with its manifest, which has been told of the members."""
        whole = replace(manifest, members=dict(self.members))
        self._zip.writestr(manifests.NAME, manifests.to_bytes(whole, created_at))
        self._zip.close()
        return whole

    def _check(self) -> None:
        if self.file.tell() > self.at_most:
            raise TooLarge(f"the archive would have more than {self.at_most >> 20} MB")


def _with_first(first: str, rest: Iterable[str]) -> Iterable[str]:
    yield first
    yield from rest
