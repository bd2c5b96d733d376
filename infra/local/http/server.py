"""Reads requests off a socket, hands each whole one to a handler, writes the answer. Called by every loopback door.

One connection carries one request at a time; a pipelined next one waits its turn. Bodies above the limit are drained
and reported as `too_large`, so that a client which writes before it reads still sees its answer.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, cast

import httptools

from infra.local.http.messages import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]

DRAIN_FACTOR: Final = 20
"""A body this many times over the limit is not even drained: the connection is cut."""

_log = logging.getLogger(__name__)


class HttpServer:
    """A listening socket on the loopback address."""

    def __init__(self, handler: Handler, *, max_body: int, host: str = "127.0.0.1") -> None:
        self._handler = handler
        self._max_body = max_body
        self._host = host
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()

    async def start(self, port: int = 0) -> int:
        """Listens; the answer is the port, a free one when 0 was asked. Raises: OSError, when it is taken."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._connect, self._host, port, backlog=512)
        self._server = server
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    def stop(self) -> None:
        """Stops listening and drops every connection."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._connections):
            connection.drop()

    def _connect(self) -> asyncio.Protocol:
        return _Connection(self._handler, self._max_body, self._connections)


class _Connection(asyncio.Protocol):
    """One client's socket. Parser callbacks (`on_*`) run inside `data_received`."""

    def __init__(self, handler: Handler, max_body: int, connections: "set[_Connection]") -> None:
        self._handler = handler
        self._max_body = max_body
        self._connections = connections
        self._waiting: deque[tuple[HttpRequest, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._peer = ""
        self._begin()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # a TCP server makes no other kind
        name = transport.get_extra_info("peername")
        self._peer = str(name[0]) if name else ""
        self._parser = httptools.HttpRequestParser(self)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)

    def drop(self) -> None:
        """Closes without a farewell; a handler in flight is cancelled."""
        if self._task is not None:
            self._task.cancel()
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(b'{"detail":"Upgrade is not supported"}')
        except httptools.HttpParserError:
            self._refuse(b'{"detail":"Bad Request"}')

    def on_message_begin(self) -> None:
        self._begin()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        if any(name == "expect" and value.lower() == "100-continue" for name, value in self._headers):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        if self._received <= self._max_body:
            self._body.append(body)
        elif self._received > DRAIN_FACTOR * self._max_body:
            self._transport.abort()
        else:
            self._body.clear()

    def on_message_complete(self) -> None:
        path, _, query = self._url.decode("latin-1").partition("?")
        request = HttpRequest(
            method=self._parser.get_method().decode("latin-1"),
            path=path,
            query=query,
            headers=tuple(self._headers),
            body=b"".join(self._body),
            peer=self._peer,
            too_large=self._received > self._max_body,
        )
        self._waiting.append((request, self._parser.should_keep_alive()))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._answer_all())

    def _begin(self) -> None:
        self._url = b""
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._received = 0

    def _refuse(self, body: bytes) -> None:
        self._transport.write(HttpResponse(400, body).encode(head_only=False, keep_alive=False))
        self._transport.close()

    async def _answer_all(self) -> None:
        while self._waiting:
            request, keep_alive = self._waiting.popleft()
            try:
                response = await self._handler(request)
            except Exception:  # noqa: BLE001 - the last line: a bug here must answer, be seen, and not end the server
                _log.exception("%s %s failed in the local stack itself", request.method, request.path)
                response = HttpResponse(500, b'{"detail":"Internal Server Error"}')
            if self._transport.is_closing():
                break
            self._transport.write(response.encode(head_only=request.method == "HEAD", keep_alive=keep_alive))
            if not keep_alive:
                self._transport.close()
                break
        self._task = None
