"""One Postgres server over one data folder: made on first use, started, stopped. Called by stack and tests.

Blocking calls throughout; the stack runs them on its loop's thread, where a start takes 0.1 to 1 s.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from infra.local.postgres.errors import PostgresError
from infra.local.postgres.places import Places, choose_places, socket_folder

SUPERUSER: Final = "postgres"
_GUARD: Final = Path(__file__).parent.parent / "guard.py"
_START_PATIENCE: Final = 30.0
_POLL: Final = 0.01

_SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "200",
    "timezone": "UTC",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "1GB",
    "log_min_messages": "warning",
    # A database that was filled a moment ago has no statistics, and without them takes the wrong indexes.
    "autovacuum_naptime": "5s",
    # An acknowledged commit must survive kill -9 of the server: off was measured to lose some.
    "synchronous_commit": "on",
}
_UNSAFE_SETTINGS: Final = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "64MB"}


class LocalPostgres:
    """A server that ends with this process and keeps its data.

    `durable=False` gives up surviving a power cut, for tests; a kill -9 of the server loses nothing either way.
    `settings` are the server's own, over those it is started with.
    """

    def __init__(
        self,
        data: Path,
        *,
        durable: bool = True,
        binaries: Path | None = None,
        log: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        override = os.environ.get("HINDSIGHT_PG_BIN")
        self._durable = durable
        self._settings: Final = dict(settings or {})
        self._places: Final[Places] = choose_places(data, binaries or (Path(override) if override else None))
        self._process: subprocess.Popen[bytes] | None = None
        self.log: Final = log or self._places.socket / "postgres.log"

    @property
    def data(self) -> Path:
        """Where the data is, which is not where it was asked for when the server's user could not go there."""
        return self._places.data

    @property
    def socket_folder(self) -> Path:
        """The folder of the server's socket, `.s.PGSQL.5432`."""
        return self._places.socket

    @property
    def pid(self) -> int | None:
        """The running server, or None."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The server's process, for whoever watches it."""
        return self._process

    def url(self, user: str = SUPERUSER, database: str = "postgres") -> str:
        """A connection string over the socket."""
        return f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(self._places.socket), safe='/')}"

    def start(self) -> "LocalPostgres":
        """Makes the data folder when there is none, clears away what a killed server left, and starts.

        Must be called on a thread that lives as long as the server shall. Raises: PostgresError.
        """
        socket_folder(self._places.data, self._places.user)  # a stop may have taken it away
        if not (self._places.data / "PG_VERSION").exists():
            self._make_cluster()
        _stop_leftover(self._places)
        deadline = time.monotonic() + _START_PATIENCE
        while not self._try_start(deadline):
            # A killed server's last backends may still hold its shared memory for a moment.
            if time.monotonic() > deadline:
                raise PostgresError(f"Postgres did not start: {self._last_words()}")
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        """Fast shutdown: clients are disconnected, everything is written, nothing is left to recover."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process = None
        if not self._durable:
            shutil.rmtree(self._places.socket, ignore_errors=True)

    def kill(self) -> None:
        """kill -9 of the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _make_cluster(self) -> None:
        command = [
            *("initdb", "-D", str(self._places.data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8"),
            *("--locale=C.UTF-8", "--no-instructions"),
        ]
        if not self._durable:
            command.append("--no-sync")
        with self.log.open("ab") as log:
            done = subprocess.run(
                self._guarded(command, signal.SIGKILL), check=False, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, cwd="/", env=_environment(),
            )  # fmt: skip
        if done.returncode != 0:
            raise PostgresError(f"initdb failed: {self._last_words()}")

    def _try_start(self, deadline: float) -> bool:
        settings = _SETTINGS | ({} if self._durable else _UNSAFE_SETTINGS)
        settings |= self._settings | {"unix_socket_directories": str(self._places.socket)}
        command = ["postgres", "-D", str(self._places.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self._guarded(command, signal.SIGINT), stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, cwd="/", env=_environment(), start_new_session=True,
            )  # fmt: skip
        while process.poll() is None:
            if _is_ready(self._places.data, process.pid):
                self._process = process
                return True
            if time.monotonic() > deadline:
                process.kill()
                process.wait()
            time.sleep(_POLL)
        return False

    def _guarded(self, command: list[str], death_signal: signal.Signals) -> list[str]:
        user = -1 if self._places.user is None else self._places.user
        program = str(self._places.binaries / command[0])
        guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(int(death_signal)), str(user), "--"]
        return [*guard, program, *command[1:]]

    def _last_words(self) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return f"{' / '.join(text.strip().splitlines()[-3:]) or 'it said nothing'} (log: {self.log})"


def _environment() -> Mapping[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _pid_file(data: Path) -> list[str]:
    with suppress(OSError):
        return (data / "postmaster.pid").read_text(errors="replace").splitlines()
    return []


def _is_ready(data: Path, pid: int) -> bool:
    """Whether the server says in its pid file that it takes connections (its eighth line)."""
    lines = _pid_file(data)
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def _stop_leftover(places: Places) -> None:
    """Ends a server that outlived its launcher; a pid file of a process that is gone or another program is none."""
    lines = _pid_file(places.data)
    if not lines or not lines[0].strip().isdigit():
        return
    pid = int(lines[0])
    for signal_number, patience in ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        if not _is_server(pid, places.data):
            break
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)
        deadline = time.monotonic() + patience
        while _is_server(pid, places.data) and time.monotonic() < deadline:
            time.sleep(_POLL)
    if _is_running(pid) and not _is_server(pid, places.data):
        # The old pid belongs to another program now, for which Postgres would refuse to start. In every other case the
        # file must stay: in it the server finds the shared memory that a killed one's last backends may still use.
        (places.data / "postmaster.pid").unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_server(pid: int, data: Path) -> bool:
    command = _command_line(pid)
    return "postgres" in command and str(data) in command


def _command_line(pid: int) -> str:
    """The command line of a process, empty when it is gone (or a zombie)."""
    listing = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self/cmdline").exists():
        with suppress(OSError):
            return listing.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""
    command = ["ps", "-o", "args=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
