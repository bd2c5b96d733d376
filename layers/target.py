"""What wheels are fetched for: Lambda's platform, or the machine that builds. Used by the builders of layers."""

import sys
from dataclasses import dataclass
from typing import Final

from layers.bytecode import LAMBDA_PYTHON


@dataclass(frozen=True, slots=True)
class Target:
    """A platform by uv's name, or None for this machine's own, and a version of Python."""

    platform: str | None
    python: str


LAMBDA: Final = Target("aarch64-manylinux_2_28", LAMBDA_PYTHON)
"""Amazon Linux 2023 has glibc 2.34; asked for an older one, a resolver falls back to old releases of psycopg."""

THIS_MACHINE: Final = Target(None, f"{sys.version_info.major}.{sys.version_info.minor}")
"""Where what is packed can be run, to prove that it is whole: arm64 wheels would not load here."""
