"""A wire to Postgres that can be cut, paused, or cut at a commit. Functions connect to it when faults are on.

Listens on a Unix socket, whose peers' pids the kernel knows, and forwards to the server's Unix socket or TCP address.
"""

import asyncio
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.local.faults.messages import FrontendMessages

_CHUNK: Final = 64 * 1024
_COMMITTED: Final = b"COMMIT\0"
"""The command tag with which the server confirms a commit."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where the real server is: a socket path, or a host and a port."""

    path: str | None = None
    host: str = "127.0.0.1"
    port: int = 5432


class WireProxy:
    """Forwards bytes both ways until told otherwise."""

    def __init__(self, folder: Path, upstream: Upstream) -> None:
        self.folder: Final = folder
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._wires: set[_Wire] = set()
        self.accepted = 0
        self.open = asyncio.Event()
        self.open.set()
        self.commit_cut: bool | None = None

    @property
    def connections(self) -> int:
        """How many wires are up."""
        return len(self._wires)

    async def start(self) -> None:
        """Listens at `folder/.s.PGSQL.5432`, the name libpq expects."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / ".s.PGSQL.5432"
        path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, path)

    def stop(self) -> None:
        """Stops listening and cuts every wire."""
        if self._server is not None:
            self._server.close()
        self.cut()

    def cut(self, pid: int | None = None) -> int:
        """Cuts every wire now, or those of one process; counts them."""
        doomed = [wire for wire in self._wires if pid is None or wire.pid in {pid, 0}]
        for wire in doomed:
            wire.cut()
        return len(doomed)

    def cut_at_commit(self, *, after: bool) -> None:
        """Arms a cut at the next COMMIT of any wire.

        Before it, the server never sees the commit; `after` it, the server has committed and the client never learns.
        """
        self.commit_cut = after

    def pause(self) -> None:
        """Keeps back bytes in both directions until `release`."""
        self.open.clear()

    def release(self) -> None:
        """Lets bytes that were kept back and all later ones pass."""
        self.open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._upstream.path is not None:
                server = await asyncio.open_unix_connection(self._upstream.path)
            else:
                server = await asyncio.open_connection(self._upstream.host, self._upstream.port)
        except OSError:
            writer.close()
            return
        wire = _Wire(self, writer, server[1])
        self.accepted += 1
        self._wires.add(wire)
        try:
            await asyncio.gather(wire.to_server(reader), wire.to_client(server[0]))
        finally:
            self._wires.discard(wire)
            wire.cut()


class _Wire:
    """One client's connection, both directions."""

    def __init__(self, proxy: WireProxy, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._messages = FrontendMessages()
        self._mute = False
        self.pid = _peer_pid(client.get_extra_info("socket"))

    def cut(self) -> None:
        """Drops both ends without a farewell."""
        for end in (self._client, self._server):
            if not end.transport.is_closing():
                end.transport.abort()

    async def to_server(self, source: asyncio.StreamReader) -> None:
        """Carries the client's bytes, watching for its commit."""
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await self._proxy.open.wait()
                if self._messages.commits(data) and self._proxy.commit_cut is not None:
                    after, self._proxy.commit_cut = self._proxy.commit_cut, None
                    if not after:
                        break
                    self._mute = True
                self._server.write(data)
                await self._server.drain()
        self._end(self._server)

    async def to_client(self, source: asyncio.StreamReader) -> None:
        """Carries the server's bytes; after a commit that the client must not learn of, it cuts instead."""
        unheard = b""
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await self._proxy.open.wait()
                if self._mute:
                    unheard = unheard[-len(_COMMITTED) :] + data
                    if _COMMITTED in unheard:
                        break
                    continue
                self._client.write(data)
                await self._client.drain()
        self.cut()

    def _end(self, writer: asyncio.StreamWriter) -> None:
        if self._mute and not self._client.transport.is_closing():
            return
        if not writer.transport.is_closing():
            writer.transport.abort()


def _peer_pid(connection: socket.socket) -> int:
    """The process at the other end; 0 where the kernel does not tell."""
    if sys.platform != "linux":
        return 0
    size = struct.calcsize("3i")
    pid: int = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
    return pid
