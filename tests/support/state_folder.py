"""Folders for stacks and servers under test: enterable for the user root drops to, and gone afterwards."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def state_folder() -> Iterator[Path]:
    """Yields an empty folder that any user may pass through (pytest's own folders are private to their owner)."""
    folder = Path(tempfile.mkdtemp(prefix="hs-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
