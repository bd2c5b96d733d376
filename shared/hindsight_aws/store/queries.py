"""Named SQL: constant text from sql/*.sql.

Each statement is written `-- name --`, one comment line saying what it does, then the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_HEAD = re.compile(r"^-- ([a-z0-9_]+) --\n-- (.+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """A named statement: `text` is constant bytes, so that psycopg prepares it once per connection."""

    name: str
    description: str
    text: bytes


@cache
def queries(topic: str) -> Mapping[str, Query]:
    """The statements of sql/{topic}.sql by name.  Raises ValueError for a file that does not keep the form."""
    source = files("hindsight_aws.store").joinpath("sql", f"{topic}.sql").read_text("utf-8")
    return parse(topic, source)


def topics() -> list[str]:
    """Every file of named statements, without its ending, sorted."""
    folder = files("hindsight_aws.store").joinpath("sql")
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))


def parse(topic: str, source: str) -> dict[str, Query]:
    """The statements in `source` by name.  Raises ValueError for text outside a statement and for a name used twice."""
    heads = list(_HEAD.finditer(source))
    if not heads or source[: heads[0].start()].strip():
        raise ValueError(f"sql/{topic}.sql must begin with `-- name --` and a line that describes it")
    found: dict[str, Query] = {}
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        text = source[head.end() : following.start() if following else len(source)].strip().removesuffix(";")
        if head[1] in found or not text:
            raise ValueError(f"sql/{topic}.sql: {head[1]} is empty or there twice")
        found[head[1]] = Query(head[1], head[2], text.encode())
    return found
