"""Child processes of the supervisor: started guarded, watched until they end, killed by pid. Called by every part."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_GUARD: Final = Path(__file__).with_name("guard.py")


class Child:
    """A running program. `exited` resolves to its return code (minus the signal that ended it) exactly once."""

    def __init__(self, process: "subprocess.Popen[bytes]", loop: asyncio.AbstractEventLoop) -> None:
        self._process = process
        self._loop = loop
        self.pid: Final = process.pid
        self.exited: asyncio.Future[int] = loop.create_future()
        # A thread that sleeps in waitpid works on every system and event loop, and costs nothing while it sleeps.
        threading.Thread(target=self._wait, name=f"wait-{self.pid}", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether the program has not been seen to end."""
        return self._process.returncode is None

    def send(self, signal_number: signal.Signals) -> None:
        """Signals the program; one that ended meanwhile is left in peace."""
        if self.is_alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal_number)

    async def stop(self, signal_number: signal.Signals, patience: float) -> None:
        """Asks with a signal, waits `patience` seconds, then kills."""
        self.send(signal_number)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.exited), patience)
        self.send(signal.SIGKILL)
        await self.exited

    def _wait(self) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop has closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._resolve, code)

    def _resolve(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)


def spawn(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path,
    output: Path | None = None,
    user: int | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
) -> Child:
    """Starts a program that ends with this process.

    Must run on the thread of the supervisor's loop: the kernel ties a child to the thread that started it. `output`
    (appended to) takes standard output and error; without it they go where ours go. Raises: OSError.
    """
    guarded = [
        sys.executable, "-I", "-S", str(_GUARD),
        str(os.getpid()), str(int(death_signal)), str(-1 if user is None else user), "--",
        *command,
    ]  # fmt: skip
    log = output.open("ab") if output is not None else None
    try:
        process = subprocess.Popen(
            guarded,
            env=dict(environment),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT if log is not None else None,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which then stops its children in order
        )
    finally:
        if log is not None:
            log.close()
    return Child(process, asyncio.get_running_loop())
