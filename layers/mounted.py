"""Unpacks archives as Lambda mounts them, for this machine: where it is proved that what is shipped is whole.

Called by `python -m layers mount`, the benchmarks and tests; infra/local runs the functions from what this makes.
"""

import shutil
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from infra.topology import Function
from layers.build import build_layer
from layers.target import THIS_MACHINE
from layers.task_root import build_task_root

_RUNTIME: Final = ("awslambdaric", "simplejson", "snapshot_restore_py")
"""What Lambda brings itself, in /var/runtime."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """A folder with `task/<function>`, `opt/<layer+layer>` and `runtime`: Lambda's /var/task, /opt and /var/runtime."""

    folder: Path

    def task_root(self, function: Function) -> Path:
        """Where the function's own archive lies."""
        return self.folder / "task" / function.name

    def layers(self, function: Function) -> Path:
        """Where its layers lie, one over the other."""
        return self.folder / "opt" / "+".join(function.layers)

    def search_path(self, function: Function) -> tuple[Path, ...]:
        """Where its imports are looked for, before the standard library."""
        return self.task_root(function), self.layers(function) / "python", self.folder / "runtime"

    @staticmethod
    def interpreter() -> tuple[str, ...]:
        """The command of a Python that sees its standard library, and of this machine nothing else."""
        return str(getattr(sys, "_base_executable", sys.executable)), "-I", "-S", "-B"


def mount(root: Path, into: Path, folder: Path, functions: Sequence[Function]) -> Mounted:
    """Builds every archive of the functions in `into`, for this machine, and unpacks them in the empty `folder`.

    Raises: PackagingError and its kin.
    """
    mounted = Mounted(folder)
    layers = {name for function in functions for name in function.layers}
    archives = {name: build_layer(name, root, into, THIS_MACHINE).path for name in sorted(layers)}
    for function in functions:
        with zipfile.ZipFile(build_task_root(root, function.directory, into).path) as packed:
            packed.extractall(mounted.task_root(function))
        place = mounted.layers(function)
        if not place.exists():
            for name in function.layers:  # a later layer's files win, as under /opt
                with zipfile.ZipFile(archives[name]) as packed:
                    packed.extractall(place)
    _copy_runtime(folder / "runtime")
    return mounted


def _copy_runtime(folder: Path) -> None:
    """Copies Lambda's own runtime from this environment, where it has a wheel for this machine."""
    folder.mkdir()
    for package in _RUNTIME:
        try:
            parts = files(package) or ()
        except PackageNotFoundError:
            continue
        for part in parts:
            if ".." not in part.parts and part.suffix != ".pyc":
                place = folder / part
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(part.locate()), place)
