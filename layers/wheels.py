"""Packs locked wheels, for Lambda's platform if no other is named. Called by the builders of layers; calls uv.

uv checks every hash. A build is named by what goes into it, so an unchanged lock is not installed again and needs no
registry.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from platform import machine
from typing import Final

from layers.archive import Archive, measure, pack
from layers.bytecode import compile_tree, compiler
from layers.errors import DependenciesError
from layers.target import LAMBDA, Target

_RECIPE: Final = "2"
_MOUNTED_AT: Final = "/opt"
_NOT_SHIPPED: Final = (
    ".lock",
    "bin",
    "**/tests",
    "**/*.dist-info/RECORD",
    "**/*.dist-info/INSTALLER",
    "**/*.dist-info/REQUESTED",
)
"""Scripts and install records name the machine they were made on; test suites are never imported."""


def build_wheels(root: Path, into: Path, name: str, locks: Sequence[Path], target: Target = LAMBDA) -> Archive:
    """The archive `name` of all that `locks` hold, built unless it exists already.

    Raises: DependenciesError, BytecodeError.
    """
    archive = into / f"{name}-{_fingerprint(locks, target)}.zip"
    if archive.is_file():
        return measure(archive)
    with tempfile.TemporaryDirectory(prefix="hindsight-layer-") as scratch:
        folder = Path(scratch)
        packages = folder / "python"
        _install(_uv(root), locks, packages, target)
        _leave_out(packages)
        compile_tree(folder, _MOUNTED_AT)
        return pack(folder, archive)


def _fingerprint(locks: Sequence[Path], target: Target) -> str:
    platform = target.platform or f"{sys.platform} {machine()}"
    digest = hashlib.sha256(f"{_RECIPE} {platform} {target.python} {compiler() is not None}".encode())
    for lock in locks:
        digest.update(lock.read_bytes())
    return digest.hexdigest()[:16]


def _uv(root: Path) -> str:
    finder = root / ".ci" / "find-uv"
    found = subprocess.run([str(finder), sys.executable], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise DependenciesError(f"no uv to install the layer with: {found.stderr.strip()}")
    return found.stdout.strip()


def _install(uv: str, locks: Sequence[Path], packages: Path, target: Target) -> None:
    platform = [] if target.platform is None else ["--python-platform", target.platform]
    platform += ["--python-version", target.python, "--only-binary", ":all:"]
    sources = [word for lock in locks for word in ("--requirements", str(lock))]
    exact = ["--no-deps", "--require-hashes", "--link-mode", "copy"]
    ran = subprocess.run(
        [
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            sys.executable,
            "--target",
            str(packages),
            *exact,
            *platform,
            *sources,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise DependenciesError(f"the layer's wheels could not be installed: {ran.stderr.strip()}")


def _leave_out(packages: Path) -> None:
    for pattern in _NOT_SHIPPED:
        for unwanted in sorted(packages.glob(pattern)):
            if unwanted.is_dir():
                shutil.rmtree(unwanted)
            else:
                unwanted.unlink(missing_ok=True)
