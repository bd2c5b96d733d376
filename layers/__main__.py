"""`python -m layers`: builds every layer and task root into build/ and says how large each is.

`python -m layers mount FOLDER` builds them for this machine instead and unpacks them as Lambda mounts them.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.topology import TOPOLOGY
from layers.build import build_layer, check_together
from layers.mounted import mount
from layers.task_root import build_task_root

_ROOT = Path(__file__).resolve().parents[1]
_BUILD = _ROOT / "build"


def main(arguments: Sequence[str]) -> None:
    """Builds and reports; a failure ends in its builder's sentence."""
    parser = argparse.ArgumentParser(prog="python -m layers", description="What the functions are shipped in.")
    commands = parser.add_subparsers(dest="command")
    place = commands.add_parser("mount", help="build for this machine and unpack as Lambda mounts it")
    place.add_argument("folder", type=Path, help="an empty folder outside the checkout")
    chosen = parser.parse_args(arguments)
    if chosen.command == "mount":
        mount(_ROOT, _BUILD, chosen.folder, TOPOLOGY.functions)
        return
    layers = {
        name: build_layer(name, _ROOT, _BUILD)
        for name in sorted({layer for function in TOPOLOGY.functions for layer in function.layers})
    }
    for name, archive in layers.items():
        sys.stdout.write(f"layer {name}: {archive.sizes()}\n")
    for function in TOPOLOGY.functions:
        archive = build_task_root(_ROOT, function.directory, _BUILD)
        whole = check_together(function.name, [archive, *(layers[layer] for layer in function.layers)])
        sys.stdout.write(f"{function.directory}: {archive.sizes()}; {whole / 1e6:.1f} MB with its layers\n")


if __name__ == "__main__":
    main(sys.argv[1:])
