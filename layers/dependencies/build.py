"""The wheels that every function runs on. Called when assets are built."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from layers.archive import Archive
from layers.target import LAMBDA, Target
from layers.wheels import build_wheels

GROUPS: Final = ("api", "migrate")
"""The dependency groups whose union every function runs on."""


def build_dependencies(root: Path, into: Path, locks: Sequence[Path] = (), target: Target = LAMBDA) -> Archive:
    """The layer's archive, built from `locks` (the repository's own by default) unless it exists already.

    Raises: DependenciesError, BytecodeError.
    """
    wanted = list(locks) or [root / "requirements" / f"{group}.lock" for group in GROUPS]
    return build_wheels(root, into, "dependencies", wanted, target)
