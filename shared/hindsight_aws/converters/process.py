"""Runs one conversion in a child process: limited, without credentials, and gone afterwards whatever the file did.

Called through ports/converter.py; the child is `python -m hindsight_aws.converters`.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Final

from hindsight_aws.errors import FileUnreadable, WorkDeferred
from hindsight_aws.ports.converter import FileToRead

_log = logging.getLogger(__name__)

LEAST_WORTH_STARTING_S: Final = 5.0
_COMMAND: Final = (sys.executable, "-P", "-B", "-W", "ignore", "-m", "hindsight_aws.converters")
_CLOCK_RAN_OUT: Final = {-signal.SIGXCPU, -signal.SIGKILL}


class SubprocessConverter:
    """Converter whose children may take `memory_mb` MB each."""

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb

    def convert(self, file: FileToRead, seconds: float) -> str:
        if seconds < LEAST_WORTH_STARTING_S:
            raise WorkDeferred("too little time is left to convert a file")
        task = {
            "name": file.name,
            "content_type": file.content_type,
            "memory_mb": self._memory_mb,
            "seconds": int(seconds),
        }
        child = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
        try:
            answer, complaint = child.communicate(json.dumps(task).encode() + b"\n" + file.body, seconds)
        except subprocess.TimeoutExpired:
            raise FileUnreadable(file.name, f"takes longer than {int(seconds)} s to read") from None
        finally:
            if child.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
        return self._text(file, child.returncode, answer, _last_word(complaint))

    def _text(self, file: FileToRead, status: int, answer: bytes, complaint: str) -> str:
        if status in _CLOCK_RAN_OUT:
            raise FileUnreadable(file.name, "takes too long to read")
        if status != 0:
            _log.warning("a conversion of type %r ended with status %d: %s", file.content_type, status, complaint)
            raise FileUnreadable(file.name, f"is damaged: its reader gave up ({complaint or f'status {status}'})")
        found: dict[str, str] = json.loads(answer)
        if "problem" in found:
            raise FileUnreadable(file.name, found["problem"])
        return found["text"]


def _environment() -> dict[str, str]:
    """The path to the code and nothing else: no credentials, no addresses."""
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "LANG": "C.UTF-8", "TZ": "UTC"}


def _last_word(complaint: bytes) -> str:
    """The name of the error that ended the child; what follows it may quote the file."""
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1].partition(":")[0].rpartition(".")[2][:80] if lines else ""
