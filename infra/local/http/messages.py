"""One HTTP request and one response as values, the only shapes that pass between the server and what it serves."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

JSON_TYPE: Final = "application/json"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A whole request.

    `path` and `query` are the raw bytes of the request line as text: nothing decoded, nothing normalised.
    `headers` keep order and repetition, names in lower case. `body` is empty when `too_large` is set.
    """

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    peer: str
    too_large: bool = False

    def header(self, name: str) -> str | None:
        """The first value of a header, its name given in lower case."""
        return next((value for key, value in self.headers if key == name), None)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer; the server adds `content-length` and keeps or closes the connection as the client asked."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("content-type", JSON_TYPE),)

    def encode(self, *, head_only: bool, keep_alive: bool) -> bytes:
        """The bytes on the wire. A HEAD answer announces its body's length and leaves the body out."""
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}"]
        lines.extend(f"{name}: {value}" for name, value in self.headers)
        if self.status >= HTTPStatus.OK and self.status != HTTPStatus.NO_CONTENT:
            lines.append(f"content-length: {len(self.body)}")
        if not keep_alive:
            lines.append("connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", errors="replace")
        return head if head_only or self.status == HTTPStatus.NO_CONTENT else head + self.body


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
