"""The stack's folder on disk: who runs on it, what it started, its logs. Called by the supervisor."""

import fcntl
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final


class StackAlreadyRunning(RuntimeError):
    """Another stack runs over the same folder; the message names its process."""


class StateFolder:
    """Owns a state folder for the life of one stack."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path.resolve()
        self.logs: Final = self.path / "logs"
        self._lock: int | None = None

    def acquire(self) -> None:
        """Takes the folder; the kernel gives it back however the stack ends. Raises: StackAlreadyRunning."""
        self.logs.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 32).decode(errors="replace").strip()
            os.close(lock)
            raise StackAlreadyRunning(f"A stack already runs in {self.path} (process {holder}).") from None
        os.ftruncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        self._lock = lock
        self._end_leftovers()

    def release(self) -> None:
        """Lets the next stack have the folder."""
        if self._lock is not None:
            (self.path / "pids").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def remember(self, pid: int) -> None:
        """Writes down a process that must not outlive the stack, for systems whose kernel does not see to it."""
        with (self.path / "pids").open("a") as file:
            file.write(f"{pid}\n")

    def _end_leftovers(self) -> None:
        """Ends what a stack that was killed left running, where the kernel has not done so itself."""
        pids = self.path / "pids"
        if sys.platform != "linux" and pids.exists():
            for line in pids.read_text().split():
                command = ["ps", "-o", "args=", "-p", line]
                listed = subprocess.run(command, capture_output=True, text=True, check=False)
                if "infra.local" in listed.stdout:
                    with suppress(ProcessLookupError):
                        os.kill(int(line), signal.SIGKILL)
        pids.unlink(missing_ok=True)
