"""The wheels that read files. Called when assets are built."""

from pathlib import Path
from typing import Final

from layers.archive import Archive
from layers.target import LAMBDA, Target
from layers.wheels import build_wheels

GROUP: Final = "convert"


def build_converter(root: Path, into: Path, target: Target = LAMBDA) -> Archive:
    """The layer's archive, built from its group's lock unless it exists already.

    Raises: DependenciesError, BytecodeError.
    """
    return build_wheels(root, into, "converter", [root / "requirements" / f"{GROUP}.lock"], target)
