"""Reads an archive that a stranger may have made: nothing of it is believed before it is checked.

Called by submit.py for what can be seen at once, and by the job for all of it; keeps one line in memory.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Final

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.transfer import manifest as manifests
from hindsight_aws.transfer.kinds import BY_MEMBER, Kind
from hindsight_aws.transfer.manifest import Manifest

LONGEST_LINE: Final = 32 * 1024 * 1024
_LONGEST_MANIFEST: Final = 1024 * 1024
_MOST_PACKED: Final = 200
"""How many times its packed size a member may have: text of memories packs to a tenth, a bomb to a thousandth."""
_SMALL: Final = 1024 * 1024
_PIECE: Final = 1024 * 1024
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class ArchiveReader:
    """An archive in a file that can be sought in; at most `most_unpacked` bytes come of it.

    Raises: ArchiveRefused, when it is made and whenever it is read, saying what is wrong with it.
    """

    def __init__(self, file: IO[bytes], most_unpacked: int) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN:
            raise ArchiveRefused("file is not a zip archive") from None
        self._check_entries(most_unpacked)
        self.manifest: Manifest = manifests.from_bytes(self._start(manifests.NAME, _LONGEST_MANIFEST))
        self._check_members()

    def verify(self) -> None:
        """Reads every member once: each must be as the manifest says, in size, rows and digest."""
        for name, expected in self.manifest.members.items():
            digest, size, rows = hashlib.sha256(), 0, 0
            for piece in self._pieces(name):
                digest.update(piece)
                size += len(piece)
                rows += piece.count(b"\n")
            if (size, rows, digest.hexdigest()) != (expected.bytes, expected.rows, expected.sha256):
                raise ArchiveRefused(f"{name} is not as manifest.json says: its size, rows or digest differ")

    def rows(self, kind: Kind, skip: int = 0) -> Iterator[tuple[JsonObject, int]]:
        """The rows of a kind with the length of each, but for the first `skip`."""
        if kind.member not in self.manifest.members:
            return
        for place, line in enumerate(self._lines(kind.member)):
            if place >= skip:
                yield row_of(line, kind, place + 1), len(line)

    def _check_entries(self, most_unpacked: int) -> None:
        seen: set[str] = set()
        total = 0
        for entry in self._zip.infolist():
            if entry.filename in seen or not (entry.filename == manifests.NAME or entry.filename in BY_MEMBER):
                raise ArchiveRefused(f"the archive holds {entry.filename[:100]!r}, which is no member of one, or twice")
            if entry.flag_bits & 0x1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ArchiveRefused(f"{entry.filename} is encrypted, or packed in a way that is not read here")
            if entry.file_size > _SMALL and entry.file_size > _MOST_PACKED * entry.compress_size:
                raise ArchiveRefused(f"{entry.filename} unpacks to more than {_MOST_PACKED} times its size")
            seen.add(entry.filename)
            total += entry.file_size
        if total > most_unpacked:
            raise ArchiveRefused(f"the archive unpacks to more than {most_unpacked >> 20} MB")
        if manifests.NAME not in seen:
            raise ArchiveRefused("the archive has no manifest.json")

    def _check_members(self) -> None:
        there = {entry.filename: entry.file_size for entry in self._zip.infolist() if entry.filename != manifests.NAME}
        told = {name: member.bytes for name, member in self.manifest.members.items()}
        if there != told:
            raise ArchiveRefused("the members of the archive are not those of its manifest.json")

    def _start(self, name: str, at_most: int) -> bytes:
        try:
            with self._zip.open(name) as member:
                text = member.read(at_most + 1)
        except _BROKEN:
            raise _unreadable(name) from None
        if len(text) > at_most:
            raise ArchiveRefused(f"{name} has more than {at_most} bytes")
        return text

    def _pieces(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as member:
                while piece := member.read(_PIECE):
                    yield piece
        except _BROKEN:
            raise _unreadable(name) from None

    def _lines(self, name: str) -> Iterator[bytes]:
        rest = b""
        for piece in self._pieces(name):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
            if len(rest) > LONGEST_LINE:
                raise ArchiveRefused(f"{name} has a line of more than {LONGEST_LINE >> 20} MB")
        if rest:
            raise ArchiveRefused(f"{name} does not end with a line")


def row_of(line: bytes, kind: Kind, place: int) -> JsonObject:
    """A line as a row, its JSON of the shapes that the kind has.  Raises: ArchiveRefused."""
    try:
        row: JsonValue = json.loads(line)
    except (ValueError, RecursionError):
        raise ArchiveRefused(f"{kind.member}, line {place}, is not JSON") from None
    if not isinstance(row, dict):
        raise ArchiveRefused(f"{kind.member}, line {place}, is not a JSON object")
    for names, wanted, called in ((kind.objects, dict, "an object"), (kind.lists, list, "a list")):
        for name in names:
            if not isinstance(row.get(name), wanted):
                raise ArchiveRefused(f"{kind.member}, line {place}: {name} is not {called}")
    return row


def _unreadable(name: str) -> ArchiveRefused:
    return ArchiveRefused(f"{name} cannot be unpacked")
