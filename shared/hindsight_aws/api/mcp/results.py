"""Results of tools: an answer as text and as structure, and the API's errors in their own sentences."""

from __future__ import annotations

import json
from typing import Final

from hindsight_aws.api.mcp.tool import Tool
from hindsight_aws.api.mcp.within import RouteAnswer
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

LARGEST_BODY: Final = 1024 * 1024
"""Bytes that one request is answered with: sent as text, as structure, and quoted up to thrice, they must fit 6 MB."""
_THE_ITEM: Final = ["items", "0"]
"""Where the one item stands of which retain's arguments become part."""
TOO_LARGE: Final = "The answer is too large for one call: ask for less, by a lower limit or fewer tokens."


def success(tool: Tool, answer: JsonObject, *, of_many: bool) -> JsonObject:
    """A tool's result.  On the server of many banks the structure holds the text, as clients of that server expect."""
    return _result(tool, answer, of_many=of_many, is_error=False)


def failure(tool: Tool, sentence: str, *, of_many: bool, more: JsonObject | None = None) -> JsonObject:
    """A tool's result that says what went wrong, for the model to read."""
    said: JsonObject = {"status": "error", "message": sentence} if tool.says_status else {"error": sentence}
    return _result(tool, {**said, **(more or {})}, of_many=of_many, is_error=True)


def refusal(tool: Tool, answer: RouteAnswer, *, of_many: bool) -> JsonObject:
    """A route's error as the tool's result."""
    body = answer.json()
    said = body if isinstance(body, dict) else {}
    more = {name: value for name, value in said.items() if name not in {"detail", "status", "error"}}
    if wait := answer.headers.get("retry-after"):
        more["retry_after_seconds"] = int(wait)
    return failure(tool, _sentence(said.get("detail")), of_many=of_many, more=more)


def _sentence(detail: JsonValue) -> str:
    """What a route's `detail` says; one sentence for each thing that validation found."""
    if isinstance(detail, list):
        return "; ".join(_found(entry) for entry in detail if isinstance(entry, dict))
    return detail if isinstance(detail, str) else json.dumps(detail)


def _found(entry: JsonObject) -> str:
    place = entry.get("loc")
    steps = [str(step) for step in place[1:]] if isinstance(place, list) else []
    if steps[:2] == _THE_ITEM:
        steps = steps[2:]
    message = str(entry.get("msg"))
    return f"{'.'.join(steps)}: {message}" if steps else message


def _result(tool: Tool, answer: JsonObject, *, of_many: bool, is_error: bool) -> JsonObject:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    structure: JsonObject = {"result": text} if of_many and not tool.says_status else answer
    return {"content": [{"type": "text", "text": text}], "structuredContent": structure, "isError": is_error}
