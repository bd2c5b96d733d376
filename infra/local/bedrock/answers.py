"""What the endpoint answers: a status, a body, and headers; or a connection cut.

Made by `app`, written by `asgi`; calls nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonValue


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer with a JSON body; `is_cut` drops the connection without one."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()
    is_cut: bool = False


def ok(document: JsonValue) -> Answer:
    """200 with that document."""
    return Answer(200, json.dumps(document).encode())


def error(status: int, kind: str, message: str) -> Answer:
    """An error as AWS's REST services send it."""
    body = json.dumps({"message": message}).encode()
    return Answer(status, body, ((b"x-amzn-errortype", kind.encode()),))


def refused(message: str) -> Answer:
    """400 ValidationException."""
    return error(400, "ValidationException", message)


def cut() -> Answer:
    """No answer at all."""
    return Answer(0, b"", is_cut=True)
