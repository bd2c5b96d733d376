"""The calls of `make smoke`: JSON, a form with a file, and MCP, with the patience that a paused database needs."""

import json
import time
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

_PATIENCE: Final = 90.0
"""A paused database resumes within half a minute; a first call may meet that and a cold start."""
_PAUSE: Final = 2.0
_TIMEOUT: Final = 35.0
_JSON: Final = "application/json"


class SmokeError(Exception):
    """The deployment does not do what it is for; the message says how."""


class Absent(SmokeError):
    """The deployment answers 404: it does not serve this."""


class Deployment:
    """One address, and the key that is shown there.  Every call may raise SmokeError, or Absent for a 404."""

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url.rstrip("/")
        self._authorization = {"Authorization": f"Bearer {key}"} if key else {}

    def call(self, method: str, path: str, body: object = None) -> Any:
        """What the call is answered, from JSON."""
        data = None if body is None else json.dumps(body).encode()
        return json.loads(self._send(method, path, data, {"Content-Type": _JSON}) or b"null")

    def upload(self, path: str, name: str, content: bytes) -> Any:
        """What a form with one text file is answered."""
        edge = uuid4().hex
        head = (
            f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\nContent-Type: text/plain'
        )
        request = f'--{edge}\r\nContent-Disposition: form-data; name="request"\r\n\r\n{{}}'
        form = f"{request}\r\n{head}\r\n\r\n".encode() + content + f"\r\n--{edge}--\r\n".encode()
        return json.loads(self._send("POST", path, form, {"Content-Type": f"multipart/form-data; boundary={edge}"}))

    def ask_mcp(self, path: str, method: str) -> Any:
        """The result of one request of JSON-RPC, whether it comes as JSON or as a stream of events."""
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode()
        headers = {"Content-Type": _JSON, "Accept": f"{_JSON}, text/event-stream"}
        text = self._send("POST", path, message, headers).decode()
        events = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        answer = json.loads(events[-1] if events else text)
        if "result" not in answer:
            raise SmokeError(f"MCP answers {answer.get('error')}")
        return answer["result"]

    def _send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> bytes:
        """The answer, waited for while the deployment says that it is not ready."""
        request = urllib.request.Request(  # noqa: S310 - main checked the address
            self._url + path, data=data, headers=headers | self._authorization, method=method
        )
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 - main checked it
                    return bytes(answer.read())
            except urllib.error.HTTPError as refused:
                told = f"{method} {path} is answered {refused.code}: {refused.read().decode(errors='replace')[:500]}"
                if refused.code == HTTPStatus.NOT_FOUND:
                    raise Absent(told) from None
                if refused.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > until:
                    raise SmokeError(told) from None
            except OSError as unreachable:
                raise SmokeError(f"{method} {path} is not answered: {unreachable}") from None
            time.sleep(_PAUSE)
