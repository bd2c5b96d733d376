"""Packs one function's folder, the part that Lambda calls its task root. Called when assets are built."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from layers.archive import Archive, pack
from layers.bytecode import compile_tree
from layers.errors import TaskRootError

LARGEST: Final = 20_000
"""Bytes; a door is thin, and what is shared travels in the product layer."""

_MOUNTED_AT: Final = "/var/task"


def build_task_root(root: Path, directory: str, into: Path) -> Archive:
    """The archive of one function. Raises: TaskRootError when the folder is missing or too large; BytecodeError."""
    source = root / directory
    if not source.is_dir():
        raise TaskRootError(f"the topology names {directory}, which does not exist")
    with tempfile.TemporaryDirectory(prefix="hindsight-task-") as scratch:
        folder = Path(scratch) / "task"
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".*"))
        compile_tree(folder, _MOUNTED_AT)
        archive = pack(folder, into / f"{directory.replace('/', '-')}.zip")
    if archive.zipped > LARGEST:
        raise TaskRootError(f"{directory} packs to {archive.zipped} bytes; {LARGEST} are allowed")
    return archive
