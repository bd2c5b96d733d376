"""Builds what a function is shipped in, by the topology's names. Called by infra/cloud/assets.py and by this folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from layers.archive import Archive
from layers.converter.build import build_converter
from layers.dependencies.build import build_dependencies
from layers.errors import PackagingError, TooLarge
from layers.product.build import build_product
from layers.target import LAMBDA, Target

LARGEST: Final = {"dependencies": 70_000_000}
"""Bytes unpacked, bytecode included, of a layer that has a bound of its own: what every cold start has to map."""
LARGEST_TOGETHER: Final = 250_000_000
"""Bytes unpacked of all layers of a function and its task root: Lambda takes no more."""


def build_layer(name: str, root: Path, into: Path, target: Target = LAMBDA) -> Archive:
    """The archive of the layer of that name.

    Raises: TooLarge, DependenciesError, BytecodeError; PackagingError, when nothing builds such a layer.
    """
    match name:
        case "dependencies":
            archive = build_dependencies(root, into, target=target)
        case "converter":
            archive = build_converter(root, into, target)
        case "product":
            archive = build_product(root, into)
        case _:
            raise PackagingError(f"nothing builds a layer named {name!r}")
    allowed = LARGEST.get(name, LARGEST_TOGETHER)
    if archive.unzipped > allowed:
        raise TooLarge(f"the layer {name} has {archive.unzipped} bytes unpacked; {allowed} are allowed")
    return archive


def check_together(function: str, parts: Iterable[Archive]) -> int:
    """How many bytes the function's archives have, unpacked. Raises: TooLarge."""
    size = sum(part.unzipped for part in parts)
    if size > LARGEST_TOGETHER:
        raise TooLarge(f"{function} and its layers have {size} bytes unpacked; Lambda takes {LARGEST_TOGETHER}")
    return size
