"""Bytecode for Lambda's Python, made at packing so that a cold start compiles nothing. Used by every builder here."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from layers.errors import BytecodeError

LAMBDA_PYTHON: Final = "3.13"


@cache
def compiler() -> str | None:
    """A Python of Lambda's version on this machine, or None: bytecode of another version would be ignored there."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == LAMBDA_PYTHON:
        return sys.executable
    return shutil.which(f"python{LAMBDA_PYTHON}")


def compile_tree(folder: Path, mounted_at: str) -> bool:
    """Writes `__pycache__` beside each source under `folder`; tracebacks name files under `mounted_at`.

    Says whether it did: without a Python of Lambda's version the tree stays as it is, and only starts slower.
    The bytecode holds a hash of its source instead of a time and is not checked again, so a rebuild gives equal bytes.

    Raises: BytecodeError.
    """
    python = compiler()
    if python is None:
        return False
    options = ["-q", "-f", "-s", str(folder), "-p", mounted_at, "--invalidation-mode", "unchecked-hash"]
    ran = subprocess.run(
        [python, "-P", "-m", "compileall", *options, str(folder)],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise BytecodeError(ran.stdout + ran.stderr)
    return True
