"""What a tool is: its schema, the routes it asks, and what it makes of their answers.  Used by catalogue/."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from urllib.parse import quote

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

Arguments = Mapping[str, JsonValue]
"""What a tool was given: known arguments only, with their defaults."""

BANKS: Final = "/v1/default/banks"
BANK: Final = f"{BANKS}/{{bank_id}}"
_IDS: Final = (
    "bank_id",
    "memory_id",
    "document_id",
    "directive_id",
    "mental_model_id",
    "operation_id",
    "page_id",
    "node_id",
)


@dataclass(frozen=True, slots=True)
class RouteCall:
    """One request to a route of the API; `path` is percent-encoded."""

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    body: JsonObject | None = None


class Effect(Enum):
    """What a call does, as the hints tell clients: whether it reads, destroys, and whether doing it twice is once."""

    READS = (True, False, True)
    ADDS = (False, False, False)
    SETS = (False, False, True)
    DESTROYS = (False, True, True)

    def as_hints(self) -> JsonObject:
        """The tool's annotations."""
        reads, destroys, twice_is_once = self.value
        hints: JsonObject = {"readOnlyHint": reads, "idempotentHint": twice_is_once, "openWorldHint": False}
        return hints if reads else {**hints, "destructiveHint": destroys}


Ask = Callable[[Arguments], Sequence[RouteCall]]
Tell = Callable[[Sequence[JsonObject]], JsonObject]


def last(answers: Sequence[JsonObject]) -> JsonObject:
    """The answer of the last route, as it is."""
    return answers[-1]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.  `ask` gives the routes to call in order, `tell` makes their answers one.

    `says_status`: answers `status` and `message`, and does so as an object on the server of many banks too.
    `of_many`: only that server has it.  `needs_bank`: it is about one bank, named by argument there.
    """

    name: str
    description: str
    effect: Effect
    ask: Ask
    arguments: Mapping[str, JsonObject] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    tell: Tell = last
    says_status: bool = False
    of_many: bool = False
    needs_bank: bool = True

    def schema(self, *, of_many: bool) -> JsonObject:
        """The JSON Schema of the arguments."""
        names = self.names_bank if of_many else {}
        schema: JsonObject = {"type": "object", "properties": {**self.arguments, **names}}
        schema["additionalProperties"] = False
        if self.required:
            schema["required"] = list(self.required)
        return schema

    @property
    def names_bank(self) -> Mapping[str, JsonObject]:
        """The argument that names the bank on the server of many banks."""
        if not self.needs_bank or "bank_id" in self.arguments:
            return {}
        said = "Which bank; by default the one of the connection."
        return {"bank_id": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "description": said}}


def asking(
    method: str, path: str, *, query: Mapping[str, str] | None = None, body: Mapping[str, str] | None = None
) -> Ask:
    """Asks one route; `query` and `body` say which argument goes where, by the name there and the argument's."""

    def ask(given: Arguments) -> Sequence[RouteCall]:
        sent = None if body is None else {there: given[here] for there, here in body.items() if here in given}
        return [RouteCall(method, at(path, given), asked(given, query or {}), sent)]

    return ask


def same(names: str) -> Mapping[str, str]:
    """Arguments that have the same name there."""
    return {name: name for name in names.split()}


def at(template: str, given: Arguments) -> str:
    """The path with its ids filled in.  A document's id may hold slashes; no other may.  Raises InvalidRequest."""
    path = template
    for name in _IDS:
        if f"{{{name}}}" in template:
            path = path.replace(f"{{{name}}}", _segment(name, given.get(name)))
    return path


def _segment(name: str, value: JsonValue) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidRequest(f"'{name}' must be a string that is not empty")
    if "/" in value and name != "document_id":
        raise InvalidRequest(f"'{name}' must not hold a slash")
    return quote(value, safe="")


def asked(given: Arguments, names: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """The query string that says these arguments; a list says its name again for each entry."""
    pairs: list[tuple[str, str]] = []
    for there, here in names.items():
        value = given.get(here)
        entries = value if isinstance(value, list) else [] if value is None else [value]
        pairs += [(there, _text(entry)) for entry in entries]
    return pairs


def _text(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
