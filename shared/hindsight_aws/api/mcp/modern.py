"""What a request of 2026-07-28 must say of itself, in its `_meta` and again in its headers.  Called by exchange.py."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from starlette.datastructures import Headers

from hindsight_aws.api.mcp.protocol import HEADER_MISMATCH, INVALID_PARAMS, Message, RpcError
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
_SERVER: Final = "io.modelcontextprotocol/serverInfo"
_FRESH_FOR_MS: Final = 60_000
_ENCODED_FROM, _ENCODED_TO = "=?base64?", "?="


def require_described(message: Message, headers: Headers, version: str) -> None:
    """Lets a request pass that describes itself, and whose headers say the same as its body.  Raises RpcError."""
    meta = message.params.get("_meta")
    if not isinstance(meta, dict) or _VERSION not in meta or _CAPABILITIES not in meta:
        raise RpcError(INVALID_PARAMS, f"params._meta must hold {_VERSION} and {_CAPABILITIES}")
    said: dict[str, JsonValue] = {"mcp-protocol-version": meta[_VERSION], "mcp-method": message.method}
    if message.method == "tools/call":
        said["mcp-name"] = message.params.get("name")
    for name, value in said.items():
        given = headers.getlist(name)
        if len(given) != 1 or _decoded(given[0]) != value:
            raise RpcError(HEADER_MISMATCH, f"The {name} header does not say what the body says")
    if meta[_VERSION] != version:
        raise RpcError(HEADER_MISMATCH, "The mcp-protocol-version header does not say what the body says")


def marked(result: JsonObject, server: JsonObject, *, is_list: bool) -> JsonObject:
    """The result with what this version adds to each: that it is complete, by whom, and how long a list keeps."""
    kept: JsonObject = {"ttlMs": _FRESH_FOR_MS, "cacheScope": "private"} if is_list else {}
    return {**result, "resultType": "complete", **kept, "_meta": {_SERVER: server}}


def _decoded(header: str) -> str | None:
    if not (header.startswith(_ENCODED_FROM) and header.endswith(_ENCODED_TO)):
        return header
    try:
        return base64.b64decode(header[len(_ENCODED_FROM) : -len(_ENCODED_TO)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
