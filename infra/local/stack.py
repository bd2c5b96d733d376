"""`LocalStack`: the whole system on this machine as a context manager. Used by the command line, the demo and tests.

The parts run in processes of their own; their supervisor runs on a thread of ours, and these methods call into it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from infra.local.faults import Faults
from infra.local.functions import Outcome
from infra.local.options import StackOptions
from infra.local.queue_controls import QueueControls
from infra.local.supervisor import Supervisor
from infra.local.variables import function_variables

Answer = TypeVar("Answer")


class StackError(RuntimeError):
    """The stack cannot do that now; the message says why."""


class LocalStack:
    """Starts on `start` or on entering, ends on `stop` or on leaving; one use each.

    All methods may be called from any thread and return once the thing is done.
    """

    def __init__(self, options: StackOptions | None = None) -> None:
        self.options = options or StackOptions()
        self._supervisor = Supervisor(self.options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ended = asyncio.Event()

    def __enter__(self) -> "LocalStack":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "LocalStack":
        """Brings everything up. Raises: what the part that failed raises (`PostgresError`, `BootstrapError`, ...)."""
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), name="local-stack", daemon=True)
        self._thread.start()
        started.wait()
        try:
            self._call(self._supervisor.start())
        except BaseException:
            self._end_thread()
            raise
        return self

    def stop(self) -> None:
        """Ends every part; data stays in the state folder."""
        if self._loop is not None:
            self._call(self._supervisor.stop())
            self._end_thread()

    @property
    def base_url(self) -> str:
        """The HTTP API."""
        return f"http://127.0.0.1:{self._supervisor.port}"

    @property
    def jwt_url(self) -> str:
        """The second HTTP API, for tokens. Raises: StackError, when no issuer was named."""
        if self.options.jwt is None:
            raise StackError("this stack was started without an issuer of tokens: StackOptions(jwt=...)")
        return f"http://127.0.0.1:{self._supervisor.jwt_port}"

    @property
    def function_urls(self) -> dict[str, str]:
        """Each API function's own URL, without the 30 s limit."""
        return dict(self._supervisor.function_urls)

    @property
    def sqs_url(self) -> str:
        """The SQS endpoint, for real clients."""
        return self._supervisor.addresses.sqs

    @property
    def s3_url(self) -> str:
        """The S3 endpoint, for real clients."""
        return self._supervisor.addresses.s3

    def stored_files(self) -> list[str]:
        """The keys of the uploaded files that are stored now."""
        bucket = self.options.topology.bucket
        return [] if bucket is None else self._supervisor.objects.keys(bucket.name)

    @property
    def bedrock_url(self) -> str:
        """The Bedrock endpoint; its controls are under `/__stub__`. Raises: StackError, when it was left out."""
        if self._supervisor.bedrock is None:
            raise StackError("this stack was started without the Bedrock endpoint")
        return self._supervisor.bedrock.url

    @property
    def database_urls(self) -> dict[str, str]:
        """Connection strings by role class (`read`, `write`, `migrate`), as the functions have them."""
        return dict(self._supervisor.addresses.database_urls)

    @property
    def superuser_url(self) -> str:
        """The superuser's connection string to the product's database, never through the wire proxy."""
        from infra.local.database import superuser_url

        return superuser_url(self._supervisor.server_url)

    @property
    def queues(self) -> QueueControls:
        """The queues: send, count, lose, double, delay, shuffle."""
        return QueueControls(self._supervisor.queues, self._on_loop)

    @property
    def faults(self) -> Faults:
        """The fault harness. Raises: StackError, when the stack was started without faults."""
        server, wire = self._supervisor.fault_server, self._supervisor.wire
        if server is None or wire is None or self._loop is None:
            raise StackError("this stack was started without faults: StackOptions(faults=True)")
        return Faults(self._loop, server, wire)

    def variables_of(self, function: str) -> dict[str, str]:
        """The environment of the processes of this function."""
        entry = self.options.topology.function(function)
        return function_variables(entry, self.options, self._supervisor.addresses)

    def invoke(self, function: str, payload: bytes) -> Outcome:
        """Runs one event of a function and waits for its end."""
        return self._call(self._supervisor.invoke(function, payload))

    def warm(self, function: str) -> None:
        """Starts an environment of the function unless one is idle, and waits until it is ready for an event."""
        self._call(self._supervisor.pools[function].warm())

    def run_schedule(self, name: str) -> Outcome:
        """Lets a schedule tick now and waits for its end."""
        return self._call(self._supervisor.schedules[name].run_once())

    def pids(self) -> dict[str, list[int]]:
        """The processes alive now, by part: each function's name, `postgres`, `bedrock`."""
        return self._on_loop(self._pids)

    def kill_function(self, name: str, *, busy_only: bool = False) -> list[int]:
        """kill -9 of a function's processes; the answer is their pids, which are gone when it returns."""
        return self._call(self._supervisor.pools[name].kill(busy_only=busy_only))

    def kill_postgres(self, *, restart: bool = True) -> None:
        """kill -9 of the database server; returns when it is up again, or leaves it down until `restart_postgres`."""
        self._call(self._keeper().kill(restart=restart))

    def restart_postgres(self) -> None:
        """Starts the database server that `kill_postgres(restart=False)` left down."""
        self._call(self._keeper().start())

    def kill_bedrock(self) -> None:
        """kill -9 of the Bedrock endpoint; returns when it answers again."""
        sidecar = self._supervisor.bedrock
        if sidecar is None:
            raise StackError("this stack was started without the Bedrock endpoint")
        self._call(sidecar.kill_and_wait())

    def _pids(self) -> dict[str, list[int]]:
        pids = {name: pool.pids for name, pool in self._supervisor.pools.items()}
        for name, pid in (
            ("postgres", self._supervisor.keeper.server.pid if self._supervisor.keeper else None),
            ("bedrock", self._supervisor.bedrock.pid if self._supervisor.bedrock else None),
        ):
            pids[name] = [] if pid is None else [pid]
        return pids

    def _keeper(self) -> Any:
        if self._supervisor.keeper is None:
            raise StackError("this stack uses the server of DATABASE_URL, which is not its own to kill")
        return self._supervisor.keeper

    def _serve(self, started: threading.Event) -> None:
        with asyncio.Runner(loop_factory=_new_loop) as runner:
            self._loop = runner.get_loop()
            started.set()
            runner.run(self._ended.wait())

    def _end_thread(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
            self._loop = None

    def _call(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        if self._loop is None:
            work.close()
            raise StackError("the stack is not running")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _on_loop(self, call: Callable[[], Answer]) -> Answer:
        async def run() -> Answer:
            return call()

        return self._call(run())


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it exists: it halves what an invocation costs the supervisor."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
