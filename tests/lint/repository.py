"""Which files belong to the repository: as git says, or as found in a copy without git. Read by the lint tests."""

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_GENERATED = {"build", "cdk.out", "dist", "__pycache__"}
_BINARY = {".png", ".gz", ".zip", ".whl", ".onnx"}


@cache
def repository_files() -> tuple[Path, ...]:
    """All files that are, or would be, committed, relative to the root and sorted."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        names = {Path(line) for line in listed.stdout.splitlines()}
        return tuple(sorted(name for name in names if (ROOT / name).is_file()))
    return tuple(sorted(_walk(ROOT)))


def text_lines(name: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file; none for a binary one."""
    if name.suffix not in _BINARY:
        yield from enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1)


def _walk(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        hidden = entry.name.startswith(".") and entry.name not in {".ci", ".gitignore"}
        if hidden or entry.name in _GENERATED or entry.suffix == ".egg-info":
            continue
        if entry.is_dir():
            yield from _walk(entry)
        else:
            yield entry.relative_to(ROOT)
