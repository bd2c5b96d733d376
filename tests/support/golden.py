"""What the original server answered, recorded: requests with their answers, and the shapes it publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator

from hindsight_aws.api.app import GROUPS, routers

FOLDER = Path(__file__).parent.parent / "fixtures" / "hindsight-1.1.0"
OMITTED = "<message>"


@dataclass(frozen=True, slots=True)
class Probe:
    """One recorded request with its answer."""

    number: int
    method: str
    path: str
    body: object
    status: int
    answer: Any
    ignored: str | None

    @property
    def name(self) -> str:
        """How a test names it."""
        return f"{self.number}-{self.method}-{self.path}"


@cache
def probes() -> tuple[Probe, ...]:
    """Every recorded request, in order."""
    rows = json.loads((FOLDER / "probe.json").read_text("utf-8"))
    return tuple(_probe(number, row) for number, row in enumerate(rows))


def _probe(number: int, row: Mapping[str, Any]) -> Probe:
    method, path = row["req"].split(" ", 1)
    return Probe(number, method, path, row["body"], row["status"], row["resp"], row["ignored"])


@cache
def probes_of_unknown_banks() -> tuple[tuple[str, str, int, Any, bool], ...]:
    """Method, path after the bank, status, answer, and whether the bank was made, of calls on unknown banks."""
    rows = json.loads((FOLDER / "unknown-bank.json").read_text("utf-8"))
    return tuple((*row["req"].split(" ", 1), row["status"], row["resp"], row["bank_created"]) for row in rows)


@cache
def served() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Method, pattern and path of every route we serve."""
    return tuple(
        (method, route.path_regex, route.path)
        for router in routers(GROUPS)
        for route in router.routes
        if isinstance(route, APIRoute) and route.include_in_schema
        for method in route.methods or ()
    )


def route_of(method: str, path: str) -> str | None:
    """Our route for a request, or None."""
    bare = path.split("?", maxsplit=1)[0].replace("%2F", "/")
    return next((template for verb, pattern, template in served() if verb == method and pattern.match(bare)), None)


def schema_errors(method: str, route: str, status: int, answer: object) -> list[str]:
    """In what an answer differs from the shape that is published for the route."""
    document = _openapi()
    published = route.replace(":path", "")
    content = document["paths"][published][method.lower()]["responses"][str(status)]["content"]["application/json"]
    validator = Draft202012Validator({**content["schema"], "components": document["components"]})
    return [f"{'/'.join(map(str, error.path))}: {error.message}"[:300] for error in validator.iter_errors(answer)]


def missing_keys(expected: object, got: object, at: str = "") -> Iterator[str]:
    """Places where the recorded answer has a key that ours has not; lists are compared by their first entry."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key, value in expected.items():
            if key not in got:
                yield f"{at}/{key}"
            else:
                yield from missing_keys(value, got[key], f"{at}/{key}")
    elif isinstance(expected, list) and isinstance(got, list) and expected and got:
        yield from missing_keys(expected[0], got[0], f"{at}/0")


@cache
def _openapi() -> Any:
    return json.loads((FOLDER / "openapi.json").read_text("utf-8"))
