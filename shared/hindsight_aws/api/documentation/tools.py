"""What the document says of MCP, which has its own protocol: two addresses that speak JSON-RPC.  For document.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.api.documentation.parameters import MEANINGS

Json = dict[str, object]

_RPC: Final[Json] = {
    "type": "object",
    "description": "A message of JSON-RPC 2.0.",
    "required": ["jsonrpc"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["string", "integer", "null"]},
        "method": {"type": "string"},
        "params": {"type": "object"},
        "result": {"type": "object"},
        "error": {"type": "object"},
    },
    "additionalProperties": True,
}
_REFUSED: Final[Json] = {
    "type": "object",
    "description": "An error in one sentence, or one of JSON-RPC.",
    "additionalProperties": True,
}
SCHEMAS: Final[Mapping[str, Json]] = {"RpcMessage": _RPC, "RpcRefusal": _REFUSED}

_WHY: Final[Mapping[int, str]] = {
    400: "The message is none of JSON-RPC, or of a version that is not spoken here.",
    401: "No key, or one that is unknown, revoked or expired.",
    403: "The page that calls is of an origin that the operator did not name.",
    404: "MCP is switched off, or there is no such method or tool.",
    413: "Larger than the service takes.",
    415: "The body must be sent as application/json.",
    422: "The path is not as it must be.",
    429: "More than the tenant or the service may be asked for now: try again after a while.",
    503: "Not now: try again in a moment.",
}
_MESSAGES: Final[Json] = {
    "anyOf": [
        {"$ref": "#/components/schemas/RpcMessage"},
        {"type": "array", "items": {"$ref": "#/components/schemas/RpcMessage"}},
    ]
}
_EXAMPLE: Final[Json] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def paths() -> dict[str, dict[str, Json]]:
    """Both addresses; each answers with a slash at its end too."""
    one = {"name": "bank_id", "in": "path", "required": True, "schema": {"type": "string"}}
    many = {"name": "x-bank-id", "in": "header", "required": False, "schema": {"type": "string"}}
    return {
        "/mcp": {"post": _operation("use_tools_of_many_banks", _OF_MANY, many)},
        "/mcp/{bank_id}": {"post": _operation("use_tools_of_one_bank", _OF_ONE, one)},
    }


_OF_ONE: Final = "The tools of one bank, over MCP: initialize, tools/list, tools/call. There are no sessions."
_OF_MANY: Final = "The tools of all banks, over MCP; each takes a `bank_id`, and without one means that of `X-Bank-Id`."


def _operation(name: str, says: str, parameter: Json) -> Json:
    message = {"schema": _MESSAGES, "example": _EXAMPLE}
    answer = {"schema": _MESSAGES, "example": {"jsonrpc": "2.0", "id": 1, "result": {}}}
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/RpcRefusal"}}}
    return {
        "tags": ["MCP"],
        "summary": name.replace("_", " ").capitalize(),
        "description": says,
        "operationId": name,
        "parameters": [{**parameter, "description": MEANINGS[str(parameter["name"])]}],
        "requestBody": {"required": True, "content": {"application/json": message}},
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": answer}},
            "202": {"description": "Nothing was asked: a notification has no answer."},
            **{str(status): {"description": why, "content": refused} for status, why in _WHY.items()},
        },
    }
