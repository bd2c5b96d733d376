"""What stands in for a service of AWS: an address on this machine, and what answers there. Calls the HTTP server."""

from infra.local.http.server import Handler, HttpServer


class Endpoint:
    """Answers requests on the loopback address from `start` to `stop`."""

    def __init__(self, answer: Handler, *, max_body: int) -> None:
        self._server = HttpServer(answer, max_body=max_body)

    async def start(self, port: int = 0) -> str:
        """Listens; the answer is the endpoint's URL."""
        return f"http://127.0.0.1:{await self._server.start(port)}"

    def stop(self) -> None:
        """Hangs up on every client."""
        self._server.stop()
