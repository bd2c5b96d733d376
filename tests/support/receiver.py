"""A receiver of webhooks on loopback: notes what it is sent and answers as it is told; and a way out that is noted."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from hindsight_aws.model.ids import TenantId


@dataclass(frozen=True, slots=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str


@dataclass(slots=True)
class Receiver:
    """What came, and the statuses that are answered in turn; the last one repeats."""

    port: int = 0
    statuses: list[int] = field(default_factory=lambda: [204])
    received: list[Received] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def receiving(certificate: Path | None = None) -> Iterator[Receiver]:
    """A receiver for as long as the block lasts; over TLS, when it has a certificate with its key."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            receiver.received.append(Received(self.command, self.path, dict(self.headers.items()), body))
            status = receiver.statuses.pop(0) if len(receiver.statuses) > 1 else receiver.statuses[0]
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            receiver.came.set()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the library's
            """Says nothing."""

    server = QuietServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class QuietServer(HTTPServer):
    """A server that says nothing of clients who leave."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing."""


class NotedMessages:
    """Messages between `deliver` and `send` that are noted down instead of sent."""

    def __init__(self) -> None:
        self.orders: list[str] = []
        self.receipts: list[str] = []
        self.delays: list[int] = []

    def to_send(self, tenant_id: TenantId, body: str) -> None:
        self.orders.append(body)

    def to_deliver(self, tenant_id: TenantId, body: str, delay_s: int = 0) -> None:
        self.receipts.append(body)
        self.delays.append(delay_s)
