"""JSON-RPC and the versions of the protocol, as pure data: what a body says, and what is said back.

Called by exchange.py and routes/mcp.py.  2025-03-26 alone knows batches; from 2026-07-28 on there is no handshake and
each request describes itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.errors import HindsightError
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that begin with `initialize`, oldest first."""
MODERN_VERSIONS: Final = ("2026-07-28",)
"""Versions whose requests carry all there is to know about them."""
UNSAID_VERSION: Final = "2025-03-26"
"""What a request without a version header is taken for, as the specification says."""
MOST_MESSAGES: Final = 20
"""Messages of one batch; they are answered one after the other within one event."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
_STATUS: Final = {METHOD_NOT_FOUND: 404}
_BATCHING_VERSIONS: Final = frozenset({"2024-11-05", "2025-03-26"})

MessageId = str | int | None


class RpcError(HindsightError):
    """A message that is not answered with a result."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data

    @property
    def status(self) -> int:
        """The HTTP status of an answer that is this error and nothing else."""
        return _STATUS.get(self.code, 400)


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification when it has no id."""

    id: MessageId
    method: str
    params: JsonObject

    @property
    def is_notification(self) -> bool:
        """Whether nobody waits for an answer."""
        return self.id is None


def version_of(header: str | None) -> str:
    """The version that a request is made in.  Raises RpcError for one that is not served."""
    version = header or UNSAID_VERSION
    known = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS)
    if version not in known:
        said: JsonObject = {"supported": list(known), "requested": version[:100]}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", said)
    return version


def negotiated(asked: JsonValue) -> str:
    """The version in which a session goes on that asks for this one.  Raises RpcError for what is no version."""
    if not isinstance(asked, str):
        raise RpcError(INVALID_PARAMS, "protocolVersion must be a string")
    return asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def read_body(body: bytes, version: str) -> JsonValue:
    """The body as JSON, made whole: one message, or a batch where the version has batches.  Raises RpcError."""
    try:
        value: JsonValue = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "The body is not JSON") from None
    if not isinstance(value, list):
        return _whole(value)
    if version not in _BATCHING_VERSIONS:
        raise RpcError(INVALID_REQUEST, f"Protocol version {version} has no batches: send one message")
    if not 1 <= len(value) <= MOST_MESSAGES:
        raise RpcError(INVALID_REQUEST, f"A batch holds 1 to {MOST_MESSAGES} messages")
    return _whole(value)


def read_message(value: JsonValue) -> Message | None:
    """The message; None for an answer, as a client may send to what we never ask.  Raises RpcError."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message is an object with "jsonrpc": "2.0"')
    method, identity, params = value.get("method"), value.get("id"), value.get("params")
    if "method" not in value and ("result" in value or "error" in value):
        return None
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "method must be a string")
    if "id" in value and (isinstance(identity, bool) or not isinstance(identity, str | int)):
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    return Message(id_of(value), method, params or {})


def id_of(value: JsonValue) -> MessageId:
    """The id that an answer to this must bear, or None when it has none that can be read."""
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None


def answered(identity: MessageId, result: Mapping[str, JsonValue]) -> JsonObject:
    """A result as a message."""
    return {"jsonrpc": "2.0", "id": identity, "result": dict(result)}


def failed(identity: MessageId, error: RpcError) -> JsonObject:
    """An error as a message."""
    said: JsonObject = {"code": error.code, "message": str(error)}
    if error.data is not None:
        said["data"] = error.data
    return {"jsonrpc": "2.0", "id": identity, "error": said}


def _whole(value: JsonValue) -> JsonValue:
    made: JsonValue = without_surrogates(value)  # type: ignore[assignment]  # JSON in, JSON out
    return made


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
