"""Zip archives that depend on nothing but their files' names and contents. Used by every builder in this folder."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_READABLE_FILE: Final = 0o100644 << 16
_UNIX: Final = 3


@dataclass(frozen=True, slots=True)
class Archive:
    """A built archive: where it is, its size in bytes as shipped, and unpacked."""

    path: Path
    zipped: int
    unzipped: int

    def sizes(self) -> str:
        """Both sizes for people to read."""
        return f"{_readable(self.unzipped)}, {_readable(self.zipped)} zipped"


def pack(folder: Path, archive: Path) -> Archive:
    """Writes `folder`'s files into `archive`, which appears whole or not at all.

    Entries are sorted and carry one fixed time and mode, so equal trees give equal bytes on one zlib.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(f".{os.getpid()}.unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for name, file in _entries(folder):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = _UNIX
            entry.external_attr = _READABLE_FILE
            packed.writestr(entry, file.read_bytes())
    unfinished.replace(archive)
    return measure(archive)


def measure(archive: Path) -> Archive:
    """The sizes of an archive that exists."""
    with zipfile.ZipFile(archive) as packed:
        return Archive(archive, archive.stat().st_size, sum(entry.file_size for entry in packed.infolist()))


def _readable(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def _entries(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*") if file.is_file())
