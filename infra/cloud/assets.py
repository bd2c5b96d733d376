"""What the functions are made of: layers and task roots, built from this checkout or stood in for by an empty file.

Called by functions.py; calls layers/. The stand-in serves where only the template matters: no registry, no compiling.
"""

from pathlib import Path
from typing import Protocol

from layers.archive import Archive
from layers.build import build_layer
from layers.task_root import build_task_root


class AssetSource(Protocol):
    """Promises a path that the CDK can upload for each layer and each function."""

    def layer(self, name: str) -> Path:
        """The layer of that name."""
        ...

    def task_root(self, directory: str) -> Path:
        """The function whose folder that is."""
        ...


class BuiltAssets:
    """Archives made from `root` into its build folder; `built` lists them by name, for a report."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._into = root / "build"
        self.built: dict[str, Archive] = {}

    def layer(self, name: str) -> Path:
        """Raises: PackagingError, when it cannot be built or is too large."""
        archive = build_layer(name, self._root, self._into)
        self.built[f"layer {name}"] = archive
        return archive.path

    def task_root(self, directory: str) -> Path:
        """Raises: TaskRootError, BytecodeError."""
        archive = build_task_root(self._root, directory, self._into)
        self.built[directory] = archive
        return archive.path


class StubAssets:
    """One almost empty folder for everything."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stub.txt").write_text("Stands in for a layer or a function.\n", encoding="utf-8")
        self._folder = folder

    def layer(self, name: str) -> Path:
        """Any layer."""
        return self._folder

    def task_root(self, directory: str) -> Path:
        """Any function."""
        return self._folder
