"""Payloads between states: JSON all the way, measured, and addressed by the paths we use (`$`, `$.a.b`, `$$.a.b`).

Called by the interpreter and, for syntax, by the reader of definitions.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from infra.local.workflow.errors import DATA_LIMIT_EXCEEDED, RUNTIME, DefinitionError, StatesError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]

LIMIT_BYTES: Final = 256 * 1024
_PATH: Final = re.compile(r"\$\$?(\.[A-Za-z_][A-Za-z0-9_]*)*")


class Meter:
    """Passes payloads through JSON, as the service does, and remembers the largest."""

    def __init__(self) -> None:
        self.largest = 0

    def carry(self, value: Json) -> Json:
        """The value as the next state will find it.

        Raises: StatesError, States.DataLimitExceeded over the limit, States.Runtime for what JSON cannot hold.
        """
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as wrong:
            raise StatesError(RUNTIME, f"a payload is not JSON: {wrong}") from wrong
        self.largest = max(self.largest, len(text))
        if len(text) > LIMIT_BYTES:
            raise StatesError(DATA_LIMIT_EXCEEDED, f"a payload has {len(text)} bytes, the limit is {LIMIT_BYTES}")
        carried: Json = json.loads(text)
        return carried


def check_path(path: object, *, context: bool = False) -> str:
    """The path, when it is one we implement. Raises: DefinitionError."""
    if not isinstance(path, str) or not _PATH.fullmatch(path) or (path.startswith("$$") and not context):
        raise DefinitionError(f"{path!r} is not a path this interpreter implements")
    return path


def check_template(template: object) -> None:
    """Accepts a payload template of constants and `name.$` paths. Raises: DefinitionError."""
    if isinstance(template, dict):
        for key, value in template.items():
            if key.endswith(".$"):
                check_path(value, context=True)
            else:
                check_template(value)
    elif isinstance(template, list):
        for value in template:
            check_template(value)


def read(path: str, data: Json, context: Mapping[str, Json]) -> Json:
    """What the path points at. Raises: StatesError when there is nothing."""
    found: Json = dict(context) if path.startswith("$$") else data
    for step in path.lstrip("$").split(".")[1:]:
        if not isinstance(found, dict) or step not in found:
            raise StatesError(RUNTIME, f"the path {path!r} points at nothing")
        found = found[step]
    return found


def write(path: str | None, data: Json, result: Json) -> Json:
    """The state's output: `result` put into its input `data` at the path; None drops the result."""
    if path is None:
        return data
    steps = path.split(".")[1:]
    if not steps:
        return result
    output: Json = json.loads(json.dumps(data))
    if not isinstance(output, dict):
        raise StatesError("States.ResultPathMatchFailure", f"the input has no place for {path!r}")
    place = output
    for step in steps[:-1]:
        nested = place.setdefault(step, {})
        if not isinstance(nested, dict):
            raise StatesError("States.ResultPathMatchFailure", f"the input has no place for {path!r}")
        place = nested
    place[steps[-1]] = result
    return output


def fill(template: Json, data: Json, context: Mapping[str, Json]) -> Json:
    """The template with every `name.$` replaced by what its path points at. Raises: StatesError."""
    if isinstance(template, list):
        return [fill(item, data, context) for item in template]
    if not isinstance(template, dict):
        return template
    filled: JsonObject = {}
    for key, value in template.items():
        if key.endswith(".$") and isinstance(value, str):
            filled[key.removesuffix(".$")] = read(value, data, context)
        else:
            filled[key] = fill(value, data, context)
    return filled
