"""The child: takes its limits, reads one file from standard input, writes its text or what is wrong as one JSON object.

Whatever else happens here, an error of a library too, ends the process and is the parent's to explain.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import suppress
from typing import Final

from hindsight_aws.converters.reading import read
from hindsight_aws.converters.refusal import Refusal

MOST_TEXT_BYTES: Final = 5_000_000
"""What retain takes as one text."""

_MIB: Final = 1024 * 1024


def main() -> None:
    """Converts one file."""
    # A library that prints must not spoil the answer.
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answer:
        os.dup2(2, 1)
        task: dict[str, str | int] = json.loads(sys.stdin.buffer.readline())
        _take_limits(int(task["memory_mb"]), int(task["seconds"]))
        json.dump(_outcome(task), answer)


def _outcome(task: dict[str, str | int]) -> dict[str, str]:
    try:
        text = read(str(task["name"]), str(task["content_type"]), sys.stdin.buffer.read())
    except Refusal as refused:
        return {"problem": str(refused)}
    except RecursionError:
        return {"problem": "is nested too deeply to be read"}
    except MemoryError:
        return {"problem": f"takes more than {task['memory_mb']} MB of memory to read"}
    if len(text.encode(errors="replace")) > MOST_TEXT_BYTES:
        return {"problem": f"holds more than {MOST_TEXT_BYTES // 1_000_000} MB of text: divide it"}
    return {"text": text}


def _take_limits(memory_mb: int, seconds: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory_mb * _MIB,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        with suppress(ValueError):  # a laptop's system may know no limit of this kind
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
