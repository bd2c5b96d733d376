"""`python -m layers`: builds every layer and task root into build/ and says how large each is."""

import sys
from pathlib import Path

from infra.topology import TOPOLOGY
from layers.archive import Archive
from layers.converter.build import build_converter
from layers.dependencies.build import build_dependencies
from layers.product.build import build_product
from layers.task_root import build_task_root

_ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Builds and reports; a failure ends in its builder's sentence."""
    into = _ROOT / "build"
    _say("layer dependencies", build_dependencies(_ROOT, into))
    _say("layer converter", build_converter(_ROOT, into))
    _say("layer product", build_product(_ROOT, into))
    for function in TOPOLOGY.functions:
        if (_ROOT / function.directory).is_dir():
            _say(function.directory, build_task_root(_ROOT, function.directory, into))


def _say(name: str, archive: Archive) -> None:
    sys.stdout.write(f"{name}: {archive.sizes()}\n")


if __name__ == "__main__":
    main()
