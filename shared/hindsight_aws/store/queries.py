"""Named SQL: constant text from sql/*.sql.

Each statement is written `-- name --`, one comment line saying what it does, then the text; comments may stand before
the first.  What several statements say alike is written once, in the same form, in sql/fragments/*.sql, and stands in
them as `{{name}}`: no valid SQL, so that a fragment which is not there is an error and never a missing condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_HEAD: Final = re.compile(r"^-- ([a-z0-9_]+) --\n-- (.+)\n", re.MULTILINE)
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
_FOLDER: Final = files("hindsight_aws.store").joinpath("sql")


@dataclass(frozen=True, slots=True)
class Query:
    """A named statement: `text` is constant bytes, so that psycopg prepares it once per connection."""

    name: str
    description: str
    text: bytes


@cache
def queries(topic: str) -> Mapping[str, Query]:
    """The statements of sql/{topic}.sql by name, whole.  Raises ValueError for a file that does not keep the form."""
    return parse(topic, _FOLDER.joinpath(f"{topic}.sql").read_text("utf-8"), fragments())


@cache
def fragments() -> Mapping[str, str]:
    """What statements have in common, by name; a fragment may hold one that stands before it."""
    found: dict[str, str] = {}
    for entry in sorted(_FOLDER.joinpath("fragments").iterdir(), key=lambda entry: entry.name):
        for name, _, text in _parts(f"fragments/{entry.name}", entry.read_text("utf-8")):
            found[name] = _whole(text, found, f"fragments/{entry.name}")
    return found


def parse(topic: str, source: str, shared: Mapping[str, str] | None = None) -> dict[str, Query]:
    """The statements in `source` by name, with `shared` text in its places.

    Raises: ValueError for text outside a statement, for a name used twice, and for a place that no shared text fills.
    """
    return {
        name: Query(name, description, _whole(text, shared or {}, f"{topic}.sql").encode())
        for name, description, text in _parts(f"{topic}.sql", source)
    }


def _parts(file: str, source: str) -> list[tuple[str, str, str]]:
    """The name, the description and the text of each part of a file."""
    heads = list(_HEAD.finditer(source))
    before = source[: heads[0].start()].splitlines() if heads else ["nothing"]
    if any(line and not line.startswith("--") for line in before):
        raise ValueError(f"sql/{file} must begin with `-- name --` and a line that describes it")
    found: dict[str, tuple[str, str, str]] = {}
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        text = source[head.end() : following.start() if following else len(source)].strip().removesuffix(";")
        if head[1] in found or not text:
            raise ValueError(f"sql/{file}: {head[1]} is empty or there twice")
        found[head[1]] = (head[1], head[2], text)
    return list(found.values())


def _whole(text: str, shared: Mapping[str, str], file: str) -> str:
    """The text with every place filled."""
    missing = set(_PLACE.findall(text)) - shared.keys()
    if missing:
        raise ValueError(f"sql/{file}: there is no fragment {', '.join(sorted(missing))}")
    return _PLACE.sub(lambda place: shared[place[1]], text)
